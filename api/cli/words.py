"""What the command line says of citations, numbers and runs, and of the reasons why somebody does not see something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REASONS: Mapping[str, str] = {
    "MISSING_SOURCE": "a source it rests on is not there",
    "CYCLE": "it rests on itself alone",
    "MISSING_PROOF": "nothing proves who may see a source it rests on",
    "WITHDRAWN": "a source it rests on is withdrawn",
    "RETRACTED": "a source it rests on is no longer held",
    "EXCLUDED": "it was taken from this viewer",
    "TOO_DEEP": "its proof is too deep to show",
}
RULES: Mapping[str, str] = {
    "private": "a private chat",
    "channel": "a channel",
    "shared": "the shared knowledge of an agent",
    "agent": "the own knowledge of an agent",
    "person": "one person's own things",
    "workspace": "another workspace",
}

CITED = """
fragment cited on Citation {
  quote role speaker { displayName } source { id kind title speakerName saidAt }
}"""
"""The fields of a citation that `citation` reads."""


def citation(cited: Mapping[str, Any]) -> str:
    """Return a citation as one line: the words, who said them, when, and where they stand."""
    source = cited["source"]
    speaker = (cited.get("speaker") or {}).get("displayName") or source.get("speakerName") or ""
    kind = str(source["kind"]).lower().replace("_", " ")
    where = f"{kind} “{source['title']}”" if source.get("title") else kind
    who = "" if kind == "file" else f"{speaker}, " if speaker else ""
    said = source.get("saidAt") or ""
    against = {"CONTRADICTS": "against it: ", "CORRECTS": "corrected by: "}.get(cited.get("role") or "", "")
    return f"{against}“{cited['quote']}” ({who}{day(said)}, {where})"


def counted(number: int, noun: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "message"), counted(0, "message")
    ('1 message', '0 messages')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def brought(run: Mapping[str, Any]) -> str:
    """Return what a run of Dreaming brought, from its fields `operations` and `skillUpdates`."""
    return f"{counted(run['operations'], 'operation')}, {counted(run['skillUpdates'], 'lesson')}"


def day(time: str) -> str:
    """Return the day and minute of a time, as it is told.

    >>> day("2026-02-02T08:31:00.000Z")
    '2026-02-02 08:31'
    """
    return time[:16].replace("T", " ")


def why_hidden(proof: Mapping[str, Any] | None) -> str:
    """Return in words why a viewer does not see a node; `proof` is what an auditor was told."""
    failure = (proof or {}).get("failure")
    if proof is None or failure is None:
        return "it is not there for this viewer"
    if failure["reason"] != "RULE_NOT_PASSED":
        return REASONS.get(failure["reason"], str(failure["reason"]).lower())
    rules = next((node.get("rules") or [] for node in proof["nodes"] if node["id"] == failure["to"]), [])
    places = sorted({RULES.get(str(rule["kind"]).lower(), str(rule["kind"]).lower()) for rule in rules})
    return f"it comes from {' and '.join(places) or 'a place'} that this viewer does not read"
