"""`rootward admin skill …`, through GraphQL (AD-18)."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.naming import principal
from graph.model.errors import BadInput

SET = """
mutation($slug: String!, $name: String!, $text: String!) {
  provisionSkill(slug: $slug, name: $name, baseText: $text) { slug name baseVersion }
}"""
ALL = "{ skills { slug name baseVersion } }"
ENABLE = """
mutation($agent: ID!, $slug: String!, $enabled: Boolean!) {
  setSkillEnabled(agentId: $agent, skill: $slug, enabled: $enabled) { enabled agent { displayName } }
}"""


async def provision(chosen: Chosen, out: Console, *, slug: str, name: str, file: Path) -> None:
    """Make a Skill of a file, or give it its next base text, and print its version.

    Raises:
        BadInput: the file cannot be read.
    """
    text = _text_of(file)
    async with linked(chosen) as link:
        made = (await link.run(SET, token=link.token(), slug=slug, name=name, text=text))["provisionSkill"]
        out.print(f"{made['slug']}: {made['name']} (version {made['baseVersion']})")


async def list_all(chosen: Chosen, out: Console) -> None:
    """Print the Skills of the workspace."""
    async with linked(chosen) as link:
        for one in (await link.run(ALL, token=link.token()))["skills"]:
            out.print(f"{one['slug']}: {one['name']} (version {one['baseVersion']})")


async def enable(chosen: Chosen, out: Console, agent: str, slug: str, *, enabled: bool) -> None:
    """Enable a Skill for an agent, or disable it."""
    async with linked(chosen) as link:
        token = link.token()
        agent_id = await principal(link, token, agent)
        done = (await link.run(ENABLE, token=token, agent=agent_id, slug=slug, enabled=enabled))["setSkillEnabled"]
        out.print(f"{done['agent']['displayName']} {'has' if done['enabled'] else 'no longer has'} {slug}")


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("give a file of text in UTF-8 that can be read", field="file") from error
