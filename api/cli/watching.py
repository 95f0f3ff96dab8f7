"""`rootward dream status` and `lint`: how the memory of an agent is, as somebody sees it; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

from api.cli.asking import asker_of
from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.shown import columns
from api.cli.words import brought, day

STATUS = """
query($owner: ID!) {
  status(ownerId: $owner) {
    at
    alerts { severity code message since }
    vectors { kind total embedded pending failed model }
    embedding { provider model failures lastError }
    stageA { channel { displayName } scope pending carried lastSuccessAt attempts lastError }
    unread { failingChannels laggingChannels stuckTasks }
    stageB { pending { kind count } lastRun { state startedAt operations skillUpdates rejected } unavailable }
    memos { used allowed knowledgeBase { kind } }
    stuck { id kind since attempts error action subjectId }
    lint { rule count }
  }
  survivalRate(agentId: $owner) { survived cohort rate windowDays }
}"""
LINT = """
query($owner: ID!, $rules: [LintRule!], $most: Int) {
  lint(ownerId: $owner, rules: $rules, first: $most) {
    totalCount edges { node { rule detail entries { id } } }
  }
}"""


async def status(chosen: Chosen, *, who: str | None, agent: str, out: Console) -> None:
    """Print the state of an agent's memory, section by section, alerts first (CO-65)."""
    async with linked(chosen) as link:
        asker = await asker_of(link, who, agent)
        found = await link.run(STATUS, token=asker.token, owner=asker.owner)
    state = found["status"]
    out.print(f"{asker.owner_name} at {day(state['at'])}, as {asker.name} sees it")
    for title, lines in (*_sections(state), ("Survival", [_survival(found["survivalRate"])])):
        out.print(f"\n{title}")
        out.print("\n".join(f"  {line}" for part in lines for line in part.splitlines()) or "  nothing")


async def lint(chosen: Chosen, *, who: str | None, agent: str, rules: Sequence[str], most: int, out: Console) -> None:
    """Print what the lint finds in an agent's entries, with the ids of the entries."""
    async with linked(chosen) as link:
        asker = await asker_of(link, who, agent)
        asked = {"owner": asker.owner, "rules": list(rules) or None, "most": most}
        found = (await link.run(LINT, token=asker.token, **asked))["lint"]
    out.print(f"{found['totalCount']} findings in {asker.owner_name}, as {asker.name} sees it")
    for edge in found["edges"]:
        node = edge["node"]
        out.print(f"\n{node['rule'].lower()}: {node['detail']}")
        out.print("\n".join(f"  {entry['id']}" for entry in node["entries"]))


def _sections(state: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [
        ("Alerts", [_alert(one) for one in state["alerts"]]),
        ("Vectors", _vectors(state["vectors"], state["embedding"])),
        ("Stage A: what was said, channel by channel", [*_channels(state["stageA"]), *_unread(state["unread"])]),
        ("Stage B: curation", _curation(state["stageB"])),
        ("Resident memos", [_memo(one) for one in state["memos"]]),
        ("Stuck", [_stuck(one) for one in state["stuck"]]),
        ("Lint", [f"{one['rule'].lower()}: {one['count']}" for one in state["lint"]]),
    ]


def _alert(alert: Mapping[str, Any]) -> str:
    return f"{alert['severity'].lower()}  {alert['code']}: {alert['message']} (since {day(alert['since'])})"


def _vectors(vectors: Iterable[Mapping[str, Any]], embedding: Mapping[str, Any]) -> list[str]:
    rows = [
        (one["kind"].lower(), *(f"{one[name]:,}" for name in ("total", "embedded", "pending", "failed")))
        for one in vectors
    ]
    configured = f"{embedding['provider']} {embedding['model'] or ''}".strip() if embedding["provider"] else "none"
    failed = embedding["failures"]
    failing = f", {failed} failed calls in a row: {embedding['lastError']}" if failed else ""
    return [f"model: {configured}{failing}", columns(rows, ("Text", "Total", "Embedded", "Pending", "Failed"))]


def _channels(channels: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            (one["channel"] or {}).get("displayName") or "a channel",
            one["scope"].lower(),
            f"{one['pending']:,}",
            f"{one['carried']:,}",
            day(one["lastSuccessAt"] or ""),
            f"{one['attempts']} failed: {one['lastError']}" if one["attempts"] else "",
        )
        for one in channels
    ]
    return [columns(rows, ("Channel", "Memory", "Pending", "Carried", "Last success", ""))] if rows else []


def _unread(unread: Mapping[str, int] | None) -> list[str]:
    if unread is None or not any(unread.values()):
        return []
    channels = f"{unread['failingChannels']} failing and {unread['laggingChannels']} lagging channels"
    return [f"not yours to read: {channels}, {unread['stuckTasks']} stuck tasks"]


def _curation(state: Mapping[str, Any]) -> list[str]:
    waits = ", ".join(f"{one['count']:,} {one['kind'].replace('_', ' ')}" for one in state["pending"]) or "nothing"
    run = state["lastRun"]
    ran = "never" if run is None else f"{day(run['startedAt'])}, {run['state'].lower()}: {_counts(run)}"
    lines = [f"waiting: {waits}", f"last run: {ran}"]
    return [*lines, f"no run can start: {state['unavailable']}"] if state["unavailable"] else lines


def _counts(run: Mapping[str, Any]) -> str:
    return f"{brought(run)}, {run['rejected']} refused"


def _memo(memo: Mapping[str, Any]) -> str:
    return f"{memo['knowledgeBase']['kind'].lower()}: {memo['used']:,} of {memo['allowed']:,} tokens"


def _stuck(task: Mapping[str, Any]) -> str:
    action = {"RETRY": f"retry {task['subjectId']}", "RELEASE": f"release {task['subjectId']}"}.get(
        task["action"] or "", f"rootward jobs release {task['id']}" if task["action"] else "wait for a worker"
    )
    why = f" ({task['error']})" if task["error"] else ""
    return f"{task['kind']} since {day(task['since'])}, {task['attempts']} attempts{why}: {action}"


def _survival(found: Mapping[str, Any]) -> str:
    if found["rate"] is None:
        return f"nothing that Dreaming wrote is {found['windowDays']} days old yet"
    share = f"{found['survived']} of {found['cohort']} ({100 * found['rate']:.1f} %)"
    return f"{share} of what Dreaming wrote was left alone by people for {found['windowDays']} days"
