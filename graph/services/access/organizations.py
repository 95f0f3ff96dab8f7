"""Organizations and their settings, as admins look them up (AD-18)."""

from __future__ import annotations

from graph.model.errors import Forbidden
from graph.model.nodes.people import Organization
from graph.rules.rights import may_administer
from graph.services.access.people import ADMINISTRATION
from graph.services.access.session import Session
from graph.store.query import Eq, Find


async def list_organizations(session: Session) -> tuple[Organization, ...]:
    """Return the organizations of the caller's workspace, by name.

    Raises:
        Forbidden: only admins look at settings of organizations.
    """
    if not may_administer(session.facts):
        raise Forbidden("this needs the right admin on the workspace")
    query = Find(kind=Organization, where=Eq("workspace", session.caller.workspace))
    found = (await session.reader.find(ADMINISTRATION, query)).nodes
    return tuple(sorted(found, key=lambda one: (one.display_name.casefold(), one.id)))
