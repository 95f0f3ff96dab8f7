"""Which right each operation of each interface needs, in one table (AD-8).

The services enforce rights where the object is known; this table says, for everyone to read and for tests to compare
with the schema, the routes and the tools, what they enforce. An operation without a row fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Needs(StrEnum):
    """What a caller must hold.

    `SIGNED_IN` reads answer with what the law of visibility shows the caller, so that what he may not see is like
    what does not exist (KN-60).
    """

    NOTHING = "nothing"
    SIGNED_IN = "a valid credential; the law decides what it shows"
    READ = "read on the session, chat, agent or bot; without it the answer is that of a missing one"
    WRITE = "write on the session, chat, agent or bot"
    READER = "reader of the owning agent, or the agent in its conversation"
    CURATOR = "curator of the owning agent, or the agent in its conversation"
    HUMAN_CURATOR = "a person who is curator of the owning agent"
    SELF_OR_AUDITOR = "for oneself a valid credential; for another viewer auditor or admin"
    SELF_OR_ADMIN = "for oneself a valid credential; for others admin of the workspace"
    AUDITOR = "auditor or admin"
    JOB_CURATOR = "admin, or curator of the agent that the work is for"
    HOST = "host, or the agent that owns the channel"
    REPORTING = "host of the workspace, or of the organization that it is about"
    REPORTING_OR_WRITE = "the same, or write on the session (to promote it: on its agent too)"
    ADMIN = "admin of the workspace"
    VERB_READ = "read on the workspace, or on the memory"
    VERB_RUN = "run on the workspace, or on the memory"
    VERB_WRITE = "write on the workspace, or on the memory"
    WRITE_BOT = "write on a bot that is not a link to another"


QUERIES: Mapping[str, Needs] = {
    "node": Needs.SIGNED_IN,
    "owners": Needs.SIGNED_IN,
    "knowledgeBases": Needs.SIGNED_IN,
    "entries": Needs.SIGNED_IN,
    "entry": Needs.SIGNED_IN,
    "neighborhood": Needs.SIGNED_IN,
    "provenance": Needs.SIGNED_IN,
    "provenanceExport": Needs.SIGNED_IN,
    "explainVisibility": Needs.SELF_OR_AUDITOR,
    "auditLog": Needs.SIGNED_IN,
    "verifyAudit": Needs.SIGNED_IN,
    "restorePreview": Needs.SIGNED_IN,
    "materials": Needs.SIGNED_IN,
    "curationGuide": Needs.SIGNED_IN,
    "memorySearch": Needs.SIGNED_IN,
    "memoryBrowse": Needs.SIGNED_IN,
    "settings": Needs.SIGNED_IN,
    "skills": Needs.SIGNED_IN,
    "skillOverlays": Needs.SIGNED_IN,
    "skillContext": Needs.SIGNED_IN,
    "residentMemo": Needs.SIGNED_IN,
    "dreamRuns": Needs.SIGNED_IN,
    "survivalRate": Needs.SIGNED_IN,
    "status": Needs.SIGNED_IN,
    "lint": Needs.SIGNED_IN,
    "jobs": Needs.SIGNED_IN,
    "modelProfiles": Needs.SIGNED_IN,
    "viewer": Needs.SIGNED_IN,
    "workspace": Needs.SIGNED_IN,
    "agentSettings": Needs.SIGNED_IN,
    "tokens": Needs.SELF_OR_ADMIN,
    "members": Needs.HOST,
    "adminLog": Needs.AUDITOR,
    "connectors": Needs.ADMIN,
    "signalSources": Needs.HOST,
    "session": Needs.READ,
    "sessionMemory": Needs.READ,
    "sessionConsolidations": Needs.READ,
    "agentMemory": Needs.READ,
    "agentMemoryLog": Needs.READ,
    "botMemory": Needs.READ,
    "botMemoryLog": Needs.READ,
    "botMemorySettings": Needs.WRITE_BOT,
    "chatConfessions": Needs.READ,
    "chatEnrichments": Needs.READ,
    "memory": Needs.VERB_READ,
    "memories": Needs.VERB_READ,
    "memoryFile": Needs.VERB_READ,
    "memoryRevisions": Needs.VERB_READ,
    "memoryRevision": Needs.VERB_READ,
}

MUTATIONS: Mapping[str, Needs] = {
    "openConversation": Needs.HOST,
    "closeConversation": Needs.HOST,
    "setRoutingRule": Needs.ADMIN,
    "ingestMessages": Needs.HOST,
    "recordTaskResult": Needs.HOST,
    "ingestSignal": Needs.HOST,
    "createSignalSource": Needs.ADMIN,
    "setSignalSource": Needs.ADMIN,
    "createConnector": Needs.ADMIN,
    "setConnectorState": Needs.ADMIN,
    "syncConnector": Needs.HOST,
    "submitFile": Needs.CURATOR,
    "submitText": Needs.CURATOR,
    "submitUrl": Needs.CURATOR,
    "replaceMaterial": Needs.CURATOR,
    "retryLearning": Needs.CURATOR,
    "applyOperations": Needs.CURATOR,
    "deleteEntry": Needs.CURATOR,
    "mergeEntries": Needs.HUMAN_CURATOR,
    "markDistinct": Needs.HUMAN_CURATOR,
    "setCurationGuide": Needs.HUMAN_CURATOR,
    "restore": Needs.CURATOR,
    "restoreBatch": Needs.CURATOR,
    "grantShared": Needs.ADMIN,
    "eraseSource": Needs.ADMIN,
    "withdrawSource": Needs.HOST,
    "returnSource": Needs.HOST,
    "withdrawMessage": Needs.HOST,
    "createOrganization": Needs.ADMIN,
    "setOrganization": Needs.ADMIN,
    "createPerson": Needs.ADMIN,
    "createService": Needs.ADMIN,
    "createAgent": Needs.ADMIN,
    "setAgent": Needs.ADMIN,
    "setServing": Needs.ADMIN,
    "deleteAgent": Needs.ADMIN,
    "createGroup": Needs.ADMIN,
    "createChannel": Needs.ADMIN,
    "setMembers": Needs.HOST,
    "setDisabled": Needs.ADMIN,
    "grantRight": Needs.ADMIN,
    "revokeRight": Needs.ADMIN,
    "createToken": Needs.SELF_OR_ADMIN,
    "revokeToken": Needs.SELF_OR_ADMIN,
    "setSetting": Needs.ADMIN,
    "provisionSkill": Needs.ADMIN,
    "setSkillEnabled": Needs.ADMIN,
    "releaseParked": Needs.HUMAN_CURATOR,
    "resetSetting": Needs.ADMIN,
    "importChannel": Needs.ADMIN,
    "importMessages": Needs.HOST,
    "anchorAudit": Needs.ADMIN,
    "setModelProfile": Needs.ADMIN,
    "deleteModelProfile": Needs.ADMIN,
    "cancelJob": Needs.JOB_CURATOR,
    "releaseJob": Needs.JOB_CURATOR,
    "runDreaming": Needs.HUMAN_CURATOR,
    "rememberSessionFact": Needs.WRITE,
    "forgetSessionFact": Needs.WRITE,
    "configureSessionMemory": Needs.WRITE,
    "refreshSessionMemory": Needs.WRITE,
    "rememberForAgent": Needs.WRITE,
    "forgetForAgent": Needs.WRITE,
    "rememberForBot": Needs.READ,
    "forgetForBot": Needs.READ,
    "purgeBotMemory": Needs.WRITE_BOT,
    "setBotMemorySettings": Needs.WRITE_BOT,
    "createSession": Needs.REPORTING,
    "createChat": Needs.REPORTING,
    "appendItem": Needs.REPORTING,
    "queueTurn": Needs.REPORTING,
    "beginTurn": Needs.REPORTING,
    "suspendTurn": Needs.REPORTING,
    "resumeTurn": Needs.REPORTING,
    "completeTurn": Needs.REPORTING,
    "cancelTurn": Needs.REPORTING,
    "confide": Needs.REPORTING,
    "forkSession": Needs.REPORTING,
    "restoreVersion": Needs.REPORTING,
    "deleteChatHistory": Needs.REPORTING,
    "promote": Needs.REPORTING_OR_WRITE,
    "deleteSession": Needs.REPORTING_OR_WRITE,
    "createMemory": Needs.VERB_WRITE,
    "updateMemory": Needs.VERB_WRITE,
    "deleteMemory": Needs.VERB_WRITE,
    "createMemoryFile": Needs.VERB_RUN,
    "writeMemoryFile": Needs.VERB_RUN,
    "moveMemoryFile": Needs.VERB_RUN,
    "deleteMemoryFile": Needs.VERB_RUN,
    "restoreMemoryRevision": Needs.VERB_RUN,
    "purgeMemoryHistory": Needs.VERB_WRITE,
}

SUBSCRIPTIONS: Mapping[str, Needs] = {
    "auditFeed": Needs.SIGNED_IN,
    "learningProgress": Needs.SIGNED_IN,
    "dreamRunProgress": Needs.SIGNED_IN,
}

ROUTES: Mapping[str, Needs] = {
    "POST /graphql": Needs.SIGNED_IN,
    "WEBSOCKET /graphql": Needs.SIGNED_IN,
    "GET /graphiql": Needs.NOTHING,
    "GET /blobs/{id}": Needs.SIGNED_IN,
    "GET /health/live": Needs.NOTHING,
    "GET /health/ready": Needs.NOTHING,
    "GET /metrics": Needs.NOTHING,
    "GET /v1/agents/{agentId}/memory": Needs.READ,
    "POST /v1/agents/{agentId}/memory": Needs.WRITE,
    "GET /v1/agents/{agentId}/memory/log": Needs.READ,
    "GET /v1/bots/{botId}/memory": Needs.READ,
    "POST /v1/bots/{botId}/memory": Needs.READ,
    "GET /v1/bots/{botId}/memory/log": Needs.READ,
    "POST /v1/bots/{botId}/memory/purge": Needs.WRITE_BOT,
    "GET /v1/bots/{botId}/memory/bot": Needs.WRITE_BOT,
    "PATCH /v1/bots/{botId}/memory/bot": Needs.WRITE_BOT,
    "GET /api/v1/memories": Needs.VERB_READ,
    "POST /api/v1/memories": Needs.VERB_WRITE,
    "GET /api/v1/memories/{memory_id}": Needs.VERB_READ,
    "PATCH /api/v1/memories/{memory_id}": Needs.VERB_WRITE,
    "DELETE /api/v1/memories/{memory_id}": Needs.VERB_WRITE,
    "GET /api/v1/memories/{memory_id}/files": Needs.VERB_READ,
    "POST /api/v1/memories/{memory_id}/files": Needs.VERB_RUN,
    "POST /api/v1/memories/{memory_id}/files/move": Needs.VERB_RUN,
    "GET /api/v1/memories/{memory_id}/files/move": Needs.VERB_READ,
    "PUT /api/v1/memories/{memory_id}/files/move": Needs.VERB_RUN,
    "DELETE /api/v1/memories/{memory_id}/files/move": Needs.VERB_RUN,
    "GET /api/v1/memories/{memory_id}/files/{path:path}": Needs.VERB_READ,
    "PUT /api/v1/memories/{memory_id}/files/{path:path}": Needs.VERB_RUN,
    "DELETE /api/v1/memories/{memory_id}/files/{path:path}": Needs.VERB_RUN,
    "GET /api/v1/memories/{memory_id}/revisions": Needs.VERB_READ,
    "DELETE /api/v1/memories/{memory_id}/revisions": Needs.VERB_WRITE,
    "GET /api/v1/memories/{memory_id}/revisions/{seq}": Needs.VERB_READ,
    "POST /api/v1/memories/{memory_id}/revisions/{seq}/restore": Needs.VERB_RUN,
    "GET /api/v1/audit-events": Needs.VERB_WRITE,
    "POST /api/v1/threads": Needs.VERB_RUN,
    "GET /api/v1/threads/{thread_id}": Needs.VERB_READ,
    "POST /api/v1/threads/{thread_id}/archive": Needs.VERB_RUN,
    "POST /api/v1/threads/{thread_id}/unarchive": Needs.VERB_RUN,
    "POST /api/v1/threads/{thread_id}/compact": Needs.VERB_RUN,
    "GET /api/v1/threads/{thread_id}/memories": Needs.VERB_READ,
    "POST /api/v1/threads/{thread_id}/memories": Needs.VERB_RUN,
    "PATCH /api/v1/threads/{thread_id}/memories/{name}": Needs.VERB_RUN,
    "DELETE /api/v1/threads/{thread_id}/memories/{name}": Needs.VERB_RUN,
    "POST /api/v1/agents": Needs.VERB_RUN,
    "GET /api/v1/agents/{agent_id}": Needs.VERB_READ,
    "PATCH /api/v1/agents/{agent_id}": Needs.VERB_WRITE,
    "POST /api/v1/threads/{thread_id}/runs": Needs.VERB_RUN,
    "GET /api/v1/runs/{run_id}": Needs.VERB_READ,
    "POST /api/v1/runs/{run_id}/attempts": Needs.VERB_RUN,
    "POST /api/v1/runs/{run_id}/checkpoint": Needs.VERB_RUN,
    "POST /api/v1/runs/{run_id}/complete": Needs.VERB_RUN,
    "POST /api/v1/runs/{run_id}/fork": Needs.VERB_RUN,
    "POST /api/v1/runs/{run_id}/tools/{tool_name}": Needs.VERB_RUN,
    "GET /v1/chats/{chatId}/confessions": Needs.READ,
    "GET /v1/chats/{chatId}/enrichments": Needs.READ,
    "GET /openapi.json": Needs.NOTHING,
    "GET /v1/sessions/{sessionId}": Needs.READ,
    "GET /v1/sessions/{sessionId}/memory": Needs.READ,
    "POST /v1/sessions/{sessionId}/memory": Needs.WRITE,
}
