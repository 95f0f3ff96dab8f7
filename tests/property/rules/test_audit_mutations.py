"""Every random mutation of an exported history is caught by the offline verifier, and by the service's own.

Full size is the 10,000 mutations of goal B2. Source: KN-85, AD-27, AD-28.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from api.cli import verify_offline
from graph.model.errors import BadInput
from graph.model.time import Millis
from graph.rules.audit_anchors import anchor
from graph.rules.audit_chain import GENESIS, Head, SealedAudit, chain_hash, erase_images, erased_sources
from graph.rules.audit_following import verify_chain
from graph.rules.images import erase_image
from tests.support.audit_chains import make_chain, make_draft
from tests.support.profile import sized

Line = dict[str, Any]


def history(rng: random.Random) -> list[SealedAudit]:
    """Return a chain of 3 to 12 records with all sorts of images, some erased, perhaps a few of the first form."""
    texts = ["", "Lin", "量子", 'a "quoted"\n\u2028 line', 1.5, 10**16, True, None, ["x", {"y": 0.1}]]
    drafts = [
        make_draft(
            rng.choice(["block.create", "block.edit", "entry.set_attributes"]),
            before=rng.choice([None, {"text": rng.choice(texts), "position": rng.randrange(9)}]),
            after=rng.choice([None, {"attributes.k": rng.choice(texts), "v": rng.choice(texts)}]),
            reason=rng.choice([None, "why", "为什么"]),
            image_sources=tuple(rng.sample(["src_1", "src_2", "src_3"], rng.randrange(3))),
        )
        for _ in range(rng.randrange(2, 11))
    ]
    old = make_chain(drafts[: rng.randrange(3)], first_form=True)
    drafts = [*drafts[len(old) :], make_draft("source.erase", "src_1", before=None, after=erase_image(["src_1"]))]
    chain = old + make_chain(drafts, head=old[-1].head if old else GENESIS)
    return [erase_images(record) if "src_1" in record.draft.image_sources else record for record in chain]


def flip_bit(lines: list[Line], rng: random.Random) -> list[Line]:
    """Flip one bit in the bytes of one line; what is no JSON afterwards is not our subject here."""
    index = rng.randrange(len(lines))
    raw = bytearray(json.dumps(lines[index], ensure_ascii=False).encode())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    lines[index] = json.loads(raw.decode())
    return lines


def change_field(lines: list[Line], rng: random.Random) -> list[Line]:
    line = rng.choice(lines)
    line[rng.choice(sorted(line))] = rng.choice([None, "", "x", "[erased]", 0, 7, True, [], {}, {"text": "x"}, -1.5])
    return lines


def drop_field(lines: list[Line], rng: random.Random) -> list[Line]:
    line = rng.choice(lines)
    del line[rng.choice([key for key, value in line.items() if value is not None and value != ""])]
    return lines


def add_field(lines: list[Line], rng: random.Random) -> list[Line]:
    rng.choice(lines)["note"] = rng.choice([None, "", "x"])
    return lines


def swap_images(lines: list[Line], rng: random.Random) -> list[Line]:
    line = rng.choice(lines)
    line["before"], line["after"] = line["after"], line["before"]
    return lines


def forget_reason(lines: list[Line], rng: random.Random) -> list[Line]:
    """Take a reason away, or claim the first form for a record, or the second."""
    line = rng.choice(lines)
    if rng.randrange(2):
        line["reason"] = None if line["reason"] else "another"
    elif line.pop("reason_commitment", None) is None:
        line["reason_commitment"] = ""
    return lines


def steal_seal(lines: list[Line], rng: random.Random) -> list[Line]:
    one, other = rng.sample(lines, 2)
    key = rng.choice(["salt", "hash", "prev_hash", "before_commitment", "after_commitment"])
    one[key] = other[key]
    return lines


def delete(lines: list[Line], rng: random.Random) -> list[Line]:
    del lines[rng.randrange(len(lines))]
    return lines


def insert(lines: list[Line], rng: random.Random) -> list[Line]:
    lines.insert(rng.randrange(len(lines) + 1), copy.deepcopy(rng.choice(lines)))
    return lines


def insert_linked(lines: list[Line], rng: random.Random) -> list[Line]:
    """Add a record that follows its predecessor perfectly."""
    index = rng.randrange(len(lines))
    return lines[: index + 1] + rewritten(lines[index : index + 1], rng, after=index) + lines[index + 1 :]


def reorder(lines: list[Line], rng: random.Random) -> list[Line]:
    one, other = rng.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def cut_tail(lines: list[Line], rng: random.Random) -> list[Line]:
    return lines[: rng.randrange(len(lines))]


def fork(lines: list[Line], rng: random.Random) -> list[Line]:
    """Rewrite everything from some record on, with right hashes, to the same length or longer."""
    index = rng.randrange(len(lines))
    return lines[:index] + rewritten(lines[index:] + lines[: rng.randrange(3)], rng, after=index, before=lines[:index])


def rewritten(lines: list[Line], rng: random.Random, *, after: int, before: list[Line] | None = None) -> list[Line]:
    chain, prev = [], (before[-1]["hash"] if before else "")
    for number, line in enumerate(copy.deepcopy(lines), after + 1):
        line.update(seq=number, tx_id=f"forged {rng.random()}", prev_hash=prev)
        bare = ("before", "after", "salt", "prev_hash", "hash", "reason" * ("reason_commitment" in line))
        line["hash"] = prev = chain_hash({key: value for key, value in line.items() if key not in bare}, prev)
        chain.append(line)
    return chain


MUTATIONS: list[Callable[[list[Line], random.Random], list[Line]]] = [
    flip_bit,
    flip_bit,
    change_field,
    drop_field,
    add_field,
    swap_images,
    forget_reason,
    steal_seal,
    delete,
    insert,
    insert_linked,
    reorder,
    cut_tail,
    fork,
]


def mutated(lines: list[Line], rng: random.Random) -> tuple[str, list[Line]]:
    """Return a mutation that changes what the lines say, and its name."""
    while True:
        change = rng.choice(MUTATIONS)
        try:
            changed = change(copy.deepcopy(lines), rng)
        except ValueError:  # the flipped bit left no JSON: unreadable, so caught before any chain
            continue
        if json.dumps(changed, sort_keys=True) != json.dumps(lines, sort_keys=True):
            return change.__name__, changed


def caught_by_service(lines: list[Line], head: Head) -> bool:
    try:
        chain = [SealedAudit.from_export(line) for line in lines]
        return not verify_chain(chain, head, erased=erased_sources(chain)).ok
    except (BadInput, TypeError, AttributeError):
        return True


@pytest.mark.req("KN-85", "AD-27", "AD-28")
def test_every_mutation_is_caught() -> None:
    rng = random.Random(20_260_801)
    missed = []
    for number in range(sized(small=1_400, full=14_000)):
        if number % 14 == 0:
            chain = history(rng)
            lines = [record.to_export() for record in chain]
            anchors = [anchor({"knb_1": chain[-1].head}, workspace="w", recorded_at=Millis(1)).to_export()]
            assert not any(found.reason for found in verify_offline.verify(copy.deepcopy(lines), anchors))
            assert verify_chain(chain, chain[-1].head, erased=erased_sources(chain)).ok
        name, changed = mutated(lines, rng)
        if not caught_by_service(copy.deepcopy(changed), chain[-1].head):
            missed.append(("service", name, lines, changed))
        if not any(found.reason for found in verify_offline.verify(changed, anchors)):
            missed.append(("offline", name, lines, changed))
    assert not missed, missed[0]
