"""The three commands that a start prints, run as they are printed, and what they show (AD-44)."""

from __future__ import annotations

import re
import subprocess

import httpx2
import pytest

from api.cli.places import read_sample
from api.sample.story import CreateEntry, EditBlock, load_messages, load_story
from tests.api.cli.support import ROOT, Server, environment

STORY = load_story()
THINGS = STORY.things_to_try
TEXTS = {
    label: text
    for batch in STORY.batches
    for operation in batch.operations
    for label, text in (
        [(block.label, block.text) for block in operation.blocks]
        if isinstance(operation, CreateEntry)
        else [(getattr(operation, "label", getattr(operation, "block", "")), getattr(operation, "text", None))]
    )
}


def printed(sample: Server) -> list[str]:
    """The commands, as they stand in what the start printed."""
    return re.findall(r"^ {5}(\S.*rootward (?:ask|compare|withdraw) .*)$", sample.said, flags=re.MULTILINE)


def pasted(sample: Server, command: str) -> str:
    done = subprocess.run(
        command, shell=True, env=environment(sample.cli.data_dir), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def current(sample: Server, who: str) -> dict[str, str | None]:
    """What somebody sees of every block and relation of the story: its text, or None."""
    ids = read_sample(sample.cli.data_dir)["ids"]
    names = [name for name in ids if name.startswith(("block:", "relation:"))]
    query = "query($id: ID!) { node(id: $id) { id ... on Block { current { text } } } }"
    found: dict[str, str | None] = {}
    headers = {"Authorization": f"Bearer {sample.cli.token(who)}"}
    with httpx2.Client(base_url=sample.address, headers=headers) as client:
        for name in names:
            body = {"query": query, "variables": {"id": ids[name]}}
            node = client.post("/graphql", json=body).json()["data"]["node"]
            shown = node is not None and (node.get("current") is not None or name.startswith("relation:"))
            found[name] = ((node.get("current") or {}).get("text") or "relation") if shown else None
    return found


@pytest.mark.req("AD-44")
def test_there_are_three_commands(sample: Server) -> None:
    assert [re.search(r"rootward (\w+)", command)[1] for command in printed(sample)] == [  # type: ignore[index]
        "ask",
        "compare",
        "withdraw",
    ]


@pytest.mark.req("AD-44")
def test_the_first_traces_the_answer_to_the_message_behind_it(sample: Server) -> None:
    shown = pasted(sample, printed(sample)[0])
    message = next(m for m in load_messages(STORY) if f"message:{m.external_id}" == THINGS.trace.source)
    (batch_block,) = [
        operation
        for batch in STORY.batches
        for operation in batch.operations
        if getattr(operation, "label", None) == THINGS.trace.block
    ]
    assert not isinstance(batch_block, CreateEntry | EditBlock)
    text = TEXTS[THINGS.trace.block]
    assert text
    assert text in shown
    quote = next(line for line in shown.split(text)[1].splitlines() if "↳" in line)
    assert re.search(r"“(.+)”", quote)[1] in message.text  # type: ignore[index]
    assert "Jonas Berg" in quote


@pytest.mark.req("AD-43", "AD-44", "DR-3")
def test_the_first_shows_what_was_learned_while_dreaming_and_what_that_rests_on(sample: Server) -> None:
    shown = pasted(sample, printed(sample)[0])
    assert THINGS.trace.learned in shown
    mark, *quotes = shown.split(THINGS.trace.learned)[1].splitlines()[1:5]
    assert mark.strip() == "learned while dreaming, 2026-10-06 02:00"
    assert len({re.search(r"“(.+)” \(Jonas Berg", quote)[1] for quote in quotes}) == 3  # type: ignore[index]


@pytest.mark.req("AD-44")
def test_the_second_shows_that_the_other_person_sees_less_and_why(sample: Server) -> None:
    shown = pasted(sample, printed(sample)[1])
    both, rest = shown.split("Only Mei Lin sees:")
    only, nothing = rest.split("Only Jonas Berg sees:")
    assert all(str(TEXTS[label]) in both for label in THINGS.compare.both_see)
    assert all(str(TEXTS[label]) in only for label in THINGS.compare.only_more)
    assert "hidden from Jonas Berg: it comes from a private chat" in only
    assert nothing.strip() == "nothing"


@pytest.mark.req("AD-44", "KN-62")
def test_the_third_withdraws_a_source_and_restores_it(sample: Server) -> None:
    before = current(sample, "mei")
    shown = pasted(sample, printed(sample)[2])
    gone, stays = shown.split("Stays, for it rests on something else too:")
    assert all(str(TEXTS[label]) in gone for label in THINGS.withdraw.hides if TEXTS[label])
    assert "a source it rests on is withdrawn" in gone
    assert "Wan Garden supplies Blue Heron Tea" in stays
    back, of = re.search(r"Restored: (\d+) of (\d+)", shown).groups()  # type: ignore[union-attr]
    assert back == of
    assert current(sample, "mei") == before


@pytest.mark.req("AD-44", "KN-62")
def test_a_withdrawal_hides_exactly_what_the_story_says_and_return_brings_it_back(sample: Server) -> None:
    before = current(sample, "mei")
    sample.cli.ok("withdraw", THINGS.withdraw.source)
    try:
        during = current(sample, "mei")
    finally:
        sample.cli.ok("return", THINGS.withdraw.source)
    assert {name for name in before if before[name] and not during[name]} == set(THINGS.withdraw.hides)
    assert during[THINGS.withdraw.keeps]
    assert current(sample, "mei") == before


@pytest.mark.req("AD-43")
def test_the_two_people_see_different_things(sample: Server) -> None:
    mei, jonas = current(sample, "mei"), current(sample, "jonas")
    assert set(THINGS.compare.only_more) <= {name for name in mei if mei[name] and not jonas[name]}


def test_somebody_without_a_token_file_is_told_what_to_do(sample: Server) -> None:
    ran = sample.cli.run("ask", "tea", "--as", "nobody")
    assert ran.code == 2
    assert "rootward token create nobody --save" in ran.err
    assert sample.cli.run("withdraw", "document:none", "--as", "mei").code == 5
