"""Sealing: what is authenticated, what a swap of bytes comes to, and a newer key that takes the place of an older."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest

from graph.model.errors import SealBroken, StoreKeyMissing
from graph.model.sealed import Sealed
from graph.store.sealing import EpochKey, Place, Vault, key_id_of
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.randomness import SeededRandomness

PLACE = Place(workspace="w", node="mem_1", field="content", version=3)
SWAPS = 10_000
CANARY = "the canary sings at noon"


@pytest.fixture
def keyring() -> FixedKeyring:
    return FixedKeyring(FakeClock())


@pytest.fixture
def vault(keyring: FixedKeyring) -> Vault:
    return Vault(keyring, SeededRandomness())


def rotated(keyring: FixedKeyring, workspace: str = "w") -> str:
    """Let a new key seal and return its id."""
    key_id = keyring.make(workspace)
    keyring.use(workspace, key_id)
    return key_id


@pytest.mark.req("BM-184", "BM-187")
@pytest.mark.parametrize("text", ["", CANARY, "猎户座 🔭\0\n", "x" * 100_000], ids=["empty", "plain", "odd", "long"])
def test_a_text_comes_back_as_it_was_and_its_bytes_do_not_show_it(vault: Vault, text: str) -> None:
    sealed = vault.seal(PLACE, text)
    assert vault.open(PLACE, sealed) == text
    assert not text or text.encode() not in sealed.data
    assert text not in repr(sealed) or not text


def test_openings_are_counted_and_sealing_is_none(vault: Vault) -> None:
    sealed = vault.seal(PLACE, CANARY)
    assert vault.openings == 0
    vault.open(PLACE, sealed)
    with pytest.raises(SealBroken):
        vault.open(replace(PLACE, node="mem_2"), sealed)
    assert vault.openings == 1


def test_equal_texts_in_one_place_have_different_envelopes(vault: Vault) -> None:
    assert vault.seal(PLACE, CANARY) != vault.seal(PLACE, CANARY)


@pytest.mark.req("AD-29", "AD-31")
def test_many_texts_sealed_at_once_share_nothing_but_the_key_of_their_workspace(vault: Vault) -> None:
    places = [replace(PLACE, node=f"mem_{number}", workspace="wv"[number % 2]) for number in range(20)]
    sealed = vault.seal_all([(place, CANARY) for place in places])
    assert [vault.open(place, each) for place, each in zip(places, sealed, strict=True)] == [CANARY] * 20
    parts = [each.data[at : at + 12] for each in sealed for at in range(8, len(each.data) - 12)]
    assert len(set(parts)) == len(parts), "no nonce, wrapped key or ciphertext stands twice"
    with pytest.raises(SealBroken):
        vault.open(places[0], sealed[2])
    assert vault.seal_all([]) == []


@pytest.mark.req("AD-31")
@pytest.mark.parametrize(
    "other",
    [
        replace(PLACE, workspace="v"),
        replace(PLACE, node="mem_2"),
        replace(PLACE, field="text"),
        replace(PLACE, version=4),
        replace(PLACE, node="mem_1/7:content", field=""),
    ],
    ids=["workspace", "node", "field", "version", "shifted names"],
)
def test_a_text_opens_in_its_own_place_alone(vault: Vault, other: Place) -> None:
    with pytest.raises(SealBroken):
        vault.open(other, vault.seal(PLACE, CANARY))


@pytest.mark.req("AD-31")
def test_the_id_of_the_key_is_authenticated_too(vault: Vault, keyring: FixedKeyring) -> None:
    """Another key's id in the envelope is refused even where both ids stand for the same bytes."""
    sealed = vault.seal(PLACE, CANARY)
    rotated(keyring)

    class Same(FixedKeyring):
        def find(self, workspace: str, key_id: str) -> EpochKey:
            return replace(super().find(workspace, "e1"), id=key_id)

    renamed = Sealed(sealed.data.replace(b"e1", b"e2", 1))
    assert key_id_of(renamed) == "e2"
    with pytest.raises(SealBroken):
        Vault(Same(), SeededRandomness()).open(PLACE, renamed)


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x02" + b"e" * 200, b"\x01\x02\0\0\0\1e1" + b"x" * 20, b"\xff" * 300])
def test_what_is_no_envelope_is_refused(vault: Vault, data: bytes) -> None:
    with pytest.raises(SealBroken):
        key_id_of(Sealed(data))
    with pytest.raises(SealBroken):
        vault.open(PLACE, Sealed(data))


@dataclass
class Kept:
    """Sealed texts of two workspaces, three fields and two keys, and ways to damage them."""

    vault: Vault
    texts: dict[Place, Sealed]
    rng: random.Random

    def damaged(self) -> tuple[Place, Sealed]:
        """Return a place with bytes that are not the ones sealed for it."""
        place, other = self.rng.sample(sorted(self.texts, key=str), 2)
        mine, theirs = self.texts[place].data, self.texts[other].data
        at, bit = self.rng.randrange(len(mine)), 1 << self.rng.randrange(8)
        cut = self.rng.randrange(1, len(mine))
        ways = {
            "swapped": theirs,
            "flipped": mine[:at] + bytes([mine[at] ^ bit]) + mine[at + 1 :],
            "cut": mine[:cut],
            "longer": mine + bytes([bit]),
            "spliced": mine[:cut] + theirs[cut:],
            "other text": mine[:68] + theirs[68:],
            "other key": mine.replace(b"e1", b"e9", 1) if b"e1" in mine[:8] else mine.replace(b"e2", b"e1", 1),
        }
        return place, Sealed(ways[self.rng.choice(sorted(ways))])


@pytest.mark.req("BM-187", "AD-31")
def test_every_swap_of_bytes_is_refused_with_an_error_of_the_tree(vault: Vault, keyring: FixedKeyring) -> None:
    """Goal D2."""
    places = [
        Place(workspace=space, node=f"mem_{number}", field=name, version=version)
        for space in ("w", "v")
        for number in range(10)
        for name, version in (("content", 1), ("content", 2), ("text", 1))
    ]
    first = {place: vault.seal(place, f"{CANARY} {place}") for place in places[::2]}
    for space in ("w", "v"):
        rotated(keyring, space)
    kept = Kept(
        vault, first | {place: vault.seal(place, f"{CANARY} {place}") for place in places[1::2]}, random.Random(7)
    )
    assert {key_id_of(sealed) for sealed in kept.texts.values()} == {"e1", "e2"}
    refused = 0
    for _ in range(SWAPS):
        place, sealed = kept.damaged()
        if sealed == kept.texts[place]:
            continue
        with pytest.raises((SealBroken, StoreKeyMissing)) as error:
            vault.open(place, sealed)
        assert "canary" not in str(error.value)
        refused += 1
    assert refused > SWAPS * 0.9
    assert vault.openings == 0
    assert all(vault.open(place, sealed) == f"{CANARY} {place}" for place, sealed in kept.texts.items())


@pytest.mark.req("AD-30")
def test_a_newer_key_takes_the_place_of_an_older_one_without_the_text_being_opened(
    vault: Vault, keyring: FixedKeyring
) -> None:
    old = vault.seal(PLACE, CANARY)
    new_id = rotated(keyring)
    new = vault.rewrap("w", "mem_1", "content", old)
    assert (key_id_of(old), key_id_of(new), vault.openings) == ("e1", new_id, 0)
    assert vault.rewrap("w", "mem_1", "content", new) is new
    keyring.drop("w", ["e1"])
    assert vault.open(PLACE, new) == CANARY
    with pytest.raises(StoreKeyMissing) as missing:
        vault.open(PLACE, old)
    assert missing.value.details["key_id"] == "e1"


@pytest.mark.req("AD-31")
def test_what_stands_in_another_place_is_not_sealed_anew_there(vault: Vault, keyring: FixedKeyring) -> None:
    old = vault.seal(PLACE, CANARY)
    rotated(keyring)
    for node, field in (("mem_2", "content"), ("mem_1", "text")):
        with pytest.raises(SealBroken):
            vault.rewrap("w", node, field, old)
