"""Every operation × who asks (cases E7, E8 and 12 of the bug reports): generated from the schema, so that a new
operation without a row fails.

Ana owns what the documents name; it lies in her private chat. To everybody else each operation must answer about it
exactly as about something that never existed: same code, same words, same shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from api.graphql.schema import build_schema
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.people import Right
from graph.model.schema import kind_of
from graph.services.access.commands import command
from graph.services.knowledge.materials import prepare_file, submit_file
from tests.api.clients import Answer, GraphQLClient
from tests.api.graphql.test_entries import an_entry
from tests.support.clock import FakeClock
from tests.support.dream_runs import job_of, run_in
from tests.support.memory_places import places_of
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One operation.

    Attributes:
        call: the field with arguments; ``{name}`` stands for an id of `Ids`.
        selection: what is asked of its answer.
        nothing: what the answer is for those who may not see it: a code, or its data as JSON.
        by: who shows that the document is sound, because for him it answers otherwise.
        admin: true if an admin may do it to what he may not read.
    """

    call: str
    selection: str = "{ __typename }"
    nothing: str = "NOT_FOUND"
    by: str = "ana"
    admin: bool = False


def only_admins(call: str, *, selection: str = "{ __typename }", by: str = "dan") -> Row:
    """Return the row of what only admins may do, whatever it is about."""
    return Row(call=call, selection=selection, nothing="FORBIDDEN", by=by, admin=True)


def only_hosts(call: str) -> Row:
    """Return the row of what hosts report of sessions and chats; an admin is a host too (AD-5)."""
    return Row(call=call, nothing="Forbidden", by="host", admin=True)


def only_verbs(call: str, selection: str = "{ __typename }") -> Row:
    """Return the row of what needs a verb on a memory; no role of the workspace brings one (FM-3)."""
    return Row(call=call, selection=selection, nothing="not_found")


EMPTY = '{"totalCount": 0, "edges": []}'
PAGE = "{ totalCount edges { node { __typename } } }"

ROWS: Mapping[str, Row] = {
    "Query.viewer": Row(call="viewer", selection="{ kind }", nothing='{"kind": "HUMAN"}', by="nobody"),
    "Query.settings": Row(call="settings", selection="{ name }", nothing="*", by="nobody"),
    "Query.verifyAudit": Row(call="verifyAudit", selection="{ ok }", nothing='{"ok": true}', by="nobody"),
    "Query.owners": Row(call="owners", selection="{ __typename }", nothing="*", by="nobody"),
    "Query.node": Row(call="node(id: {entry})", nothing="null"),
    "Query.entry": Row(call="entry(id: {entry})", nothing="null"),
    "Query.entries": Row(call="entries(ownerId: {owner}, filter: {{ids: [{entry}]}})", selection=PAGE, nothing=EMPTY),
    "Query.knowledgeBases": Row(
        call="knowledgeBases(ownerId: {owner})", selection="{ edges { node { kind } } }", nothing='{"edges": []}'
    ),
    "Query.entryTypes": Row(call="entryTypes(ownerId: {owner})", selection="", nothing="*", by="nobody"),
    "Query.entryAuthors": Row(call="entryAuthors(ownerId: {owner})", selection="{ displayName }", nothing="[]"),
    "Query.draftWarnings": Row(
        call='draftWarnings(ownerId: {owner}, name: "Lin", text: "t")',
        selection="{ __typename }",
        nothing="*",
        by="nobody",
    ),
    "Query.auditActors": Row(call="auditActors(ownerId: {owner})", selection="{ displayName }", nothing="*"),
    "Query.review": Row(call="review(ownerId: {owner}, view: CONTESTED)", selection=PAGE, nothing="*", by="nobody"),
    "Query.neighborhood": Row(call="neighborhood(entryId: {entry})"),
    "Query.provenance": Row(call="provenance(id: {source}, direction: DOWNSTREAM)"),
    "Query.provenanceExport": Row(call="provenanceExport(id: {entry}, format: PROV_JSON)", selection=""),
    "Query.explainVisibility": Row(call="explainVisibility(id: {source})", nothing="null", admin=True),
    "Query.auditLog": Row(call="auditLog(filter: {{targetId: {entry}}})", selection=PAGE, nothing=EMPTY),
    "Query.restorePreview": Row(call="restorePreview(auditIds: [{record}])"),
    "Query.materials": Row(call="materials(ownerId: {owner}, kbIds: [{base}])", selection=PAGE, nothing=EMPTY),
    "Query.material": Row(call="material(id: {material})"),
    "Query.staleIfReplaced": Row(call="staleIfReplaced(materialId: {material})", selection=""),
    "Query.connectorMaterials": Row(
        call="connectorMaterials(ownerId: {owner})", selection=PAGE, nothing="*", by="nobody"
    ),
    "Query.curationGuide": Row(call="curationGuide(principalId: {ana})", nothing="null"),
    "Query.memorySearch": Row(
        call='memorySearch(input: {{query: "likes tea", ownerId: {owner}, kbIds: [{base}]}})',
        selection="{ items { kind } }",
        nothing='{"items": []}',
    ),
    "Query.memoryBrowse": Row(call="memoryBrowse(ref: {entry})"),
    "Mutation.openConversation": Row(call="openConversation(channelId: {channel})", by="host", admin=True),
    "Mutation.closeConversation": Row(call="closeConversation(id: {conversation})", by="host", admin=True),
    "Mutation.setRoutingRule": Row(
        call="setRoutingRule(channelId: {channel}, memoryScope: SHARED)", nothing="FORBIDDEN", by="dan", admin=True
    ),
    "Mutation.ingestMessages": Row(
        call='ingestMessages(conversationId: {conversation}, messages: [{{externalId: "x", '
        'sentAt: "2025-05-10T09:00:00Z", text: "hi"}}])',
        by="host",
        admin=True,
    ),
    "Mutation.recordTaskResult": Row(
        call='recordTaskResult(input: {{taskId: "t", state: SUCCEEDED, steps: [], finalAnswer: "done", '
        "conversationId: {conversation}}})",
        by="host",
        admin=True,
    ),
    "Mutation.submitFile": Row(call="submitFile(ownerId: {owner}, kbId: {base}, file: $file)"),
    "Mutation.submitText": Row(call='submitText(ownerId: {owner}, kbId: {base}, text: "Mia likes tea")'),
    "Mutation.submitUrl": Row(
        call='submitUrl(ownerId: {owner}, kbId: {base}, url: "http://127.0.0.1/")',
    ),
    "Mutation.replaceMaterial": Row(call="replaceMaterial(id: {material}, file: $file)"),
    "Mutation.retryLearning": Row(call="retryLearning(materialId: {material})"),
    "Mutation.applyOperations": Row(
        call='applyOperations(kbId: {base}, operations: [{{op: "setType", entry: {entry}, expectedVersion: 1, '
        'type: "place"}}], reason: "r")'
    ),
    "Mutation.deleteEntry": Row(call='deleteEntry(id: {entry}, expectedVersion: 1, reason: "r")'),
    "Mutation.mergeEntries": Row(call='mergeEntries(keepId: {entry}, otherId: {other}, reason: "r")'),
    "Mutation.markDistinct": Row(call="markDistinct(a: {entry}, b: {other})", selection=""),
    "Mutation.setCurationGuide": Row(call='setCurationGuide(principalId: {ana}, text: "t", expectedVersion: 1)'),
    "Mutation.restore": Row(call='restore(auditId: {record}, reason: "r")'),
    "Mutation.restoreBatch": Row(call='restoreBatch(auditIds: [{record}], reason: "r")'),
    "Mutation.grantShared": Row(
        call="grantShared(kbId: {base}, agentId: {owner}, granted: true)", nothing="FORBIDDEN", by="nobody", admin=True
    ),
    "Mutation.eraseSource": Row(
        call='eraseSource(id: {source}, reason: "r")', nothing="FORBIDDEN", by="dan", admin=True
    ),
    "Query.workspace": Row(call="workspace", selection="{ id }", nothing="*", by="nobody"),
    "Query.agentSettings": Row(call="agentSettings(agentId: {owner})", selection="{ name }", nothing="*", by="nobody"),
    "Query.tokens": Row(call="tokens(principalId: {ana})", nothing="NOT_FOUND", admin=True),
    "Query.members": Row(call="members(id: {channel})", nothing="FORBIDDEN", by="host", admin=True),
    "Query.organizations": Row(
        call="organizations", selection="{ version }", nothing="FORBIDDEN", by="nobody", admin=True
    ),
    "Query.adminLog": Row(call="adminLog", selection="{ seq }", nothing="FORBIDDEN", by="dan", admin=True),
    "Mutation.withdrawSource": Row(call="withdrawSource(id: {source})", by="host", admin=True),
    "Mutation.returnSource": Row(call="returnSource(id: {source})", by="host", admin=True),
    "Mutation.withdrawMessage": Row(
        call='withdrawMessage(channelId: {channel}, externalId: "none")', by="nobody", admin=True
    ),
    "Mutation.createOrganization": only_admins('createOrganization(displayName: "O")'),
    "Mutation.setOrganization": only_admins("setOrganization(id: {owner}, expectedVersion: 1)", by="nobody"),
    "Mutation.createPerson": only_admins('createPerson(displayName: "P")'),
    "Mutation.createService": only_admins('createService(displayName: "S")'),
    "Mutation.createAgent": only_admins('createAgent(displayName: "A")'),
    "Mutation.createGroup": only_admins('createGroup(displayName: "G", memberIds: [{ana}])'),
    "Mutation.createChannel": only_admins("createChannel(agentId: {owner}, kind: SHARED_CHANNEL)"),
    "Mutation.setMembers": only_admins("setMembers(id: {channel}, memberIds: [{ana}])"),
    "Mutation.setDisabled": only_admins("setDisabled(principalId: {ana}, disabled: true)"),
    "Mutation.grantRight": only_admins(
        "grantRight(principalId: {ana}, right: CURATOR, objectId: {owner})", selection=""
    ),
    "Mutation.revokeRight": only_admins(
        "revokeRight(principalId: {ana}, right: CURATOR, objectId: {owner})", selection=""
    ),
    "Mutation.createToken": Row(
        call='createToken(principalId: {ana}, expiresAt: "2099-01-01T00:00:00Z")', by="dan", admin=True
    ),
    "Mutation.revokeToken": Row(call="revokeToken(id: {channel})", by="nobody", admin=True),
    "Mutation.setSetting": only_admins('setSetting(name: "search.rrf_k", value: 20, expectedVersion: 0)'),
    "Mutation.resetSetting": only_admins('resetSetting(name: "search.rrf_k", expectedVersion: 0)'),
    "Mutation.importChannel": only_admins(
        'importChannel(agentId: {owner}, kind: SHARED_CHANNEL, name: "x", speakers: ["Ana"])'
    ),
    "Mutation.importMessages": Row(
        call='importMessages(channelId: {channel}, messages: [{{conversation: "c", message: {{externalId: "x", '
        'sentAt: "2025-05-10T09:00:00Z", text: "hi"}}}}])',
        by="host",
        admin=True,
    ),
    "Mutation.anchorAudit": only_admins("anchorAudit"),
    "Mutation.setModelProfile": only_admins('setModelProfile(name: "light", provider: "openai", model: "m")'),
    "Mutation.deleteModelProfile": only_admins('deleteModelProfile(name: "light")', selection=""),
    "Mutation.cancelJob": Row(call='cancelJob(id: {job}, reason: "no_need")', by="ana", admin=True),
    "Mutation.releaseJob": Row(call="releaseJob(id: {job})", by="ana", admin=True),
    "Query.jobs": Row(call="jobs(agentId: {owner})", selection="{ kind }", nothing="[]", by="ana", admin=True),
    "Query.modelProfiles": Row(call="modelProfiles", selection="{ name }", nothing="*", by="nobody"),
    "Query.dreamRuns": Row(call="dreamRuns(agentId: {owner})", selection=PAGE, nothing=EMPTY),
    "Query.status": Row(call="status(ownerId: {owner})", selection="{ lint { count } }", nothing="*", by="nobody"),
    "Query.lint": Row(call="lint(ownerId: {owner})", selection="{ totalCount }", nothing="*", by="nobody"),
    "Mutation.runDreaming": Row(call="runDreaming(agentId: {owner})", selection="{ state }", nothing="*", by="ana"),
    "Query.survivalRate": Row(call="survivalRate(agentId: {owner})", selection="{ cohort }", nothing="*", by="nobody"),
    "Query.connectors": Row(
        call="connectors(ownerId: {owner})", selection="{ id }", nothing="FORBIDDEN", by="dan", admin=True
    ),
    "Query.signalSources": Row(
        call="signalSources(ownerId: {owner})", selection="{ id }", nothing="FORBIDDEN", by="host", admin=True
    ),
    "Mutation.createConnector": only_admins(
        'createConnector(agentId: {owner}, displayName: "C", kind: "folder", options: {{path: "/"}}, base: SHARED)',
        by="nobody",
    ),
    "Mutation.setConnectorState": only_admins("setConnectorState(id: {channel}, state: PAUSED)", by="nobody"),
    "Mutation.syncConnector": Row(call="syncConnector(id: {channel})", nothing="FORBIDDEN", by="nobody", admin=True),
    "Mutation.createSignalSource": only_admins(
        'createSignalSource(agentId: {owner}, displayName: "S", base: SHARED)', selection="{ id }"
    ),
    "Mutation.setSignalSource": only_admins("setSignalSource(id: {channel}, volatile: true)", by="nobody"),
    "Mutation.ingestSignal": Row(
        call='ingestSignal(input: {{signalSourceId: {channel}, externalId: "x", type: "t", payload: {{a: 1}}, '
        'occurredAt: "2025-05-10T09:00:00Z"}})',
        by="nobody",
        admin=True,
    ),
    "Query.skills": Row(call="skills", selection="{ slug }", nothing="*", by="nobody"),
    "Query.skillOverlays": Row(call="skillOverlays(ownerId: {owner})", selection=PAGE, nothing="*", by="nobody"),
    "Query.skillContext": Row(call='skillContext(conversationId: {conversation}, skill: "deploy")'),
    "Query.residentMemo": Row(call="residentMemo(conversationId: {conversation})"),
    "Mutation.provisionSkill": only_admins('provisionSkill(slug: "deploy", name: "Deploy", baseText: "t")'),
    "Mutation.setSkillEnabled": only_admins('setSkillEnabled(agentId: {owner}, skill: "deploy", enabled: true)'),
    "Mutation.releaseParked": Row(call="releaseParked(itemId: {source})", selection="", by="nobody"),
    "Mutation.setAgent": only_admins("setAgent(id: {agent}, shared: true)"),
    "Mutation.setServing": only_admins(
        "setServing(agentId: {agent}, organizationId: {organization}, serves: true)", selection=""
    ),
    "Mutation.deleteAgent": only_admins("deleteAgent(id: {agent})"),
    "Query.session": Row(call="session(sessionId: {session})", nothing="SessionNotFound"),
    "Query.sessionMemory": Row(call="sessionMemory(sessionId: {session})", nothing="SessionNotFound"),
    "Query.sessionConsolidations": Row(call="sessionConsolidations(sessionId: {session})", nothing="SessionNotFound"),
    "Query.agentMemory": Row(call="agentMemory(agentId: {agent})", nothing="AgentNotFound"),
    "Query.agentMemoryLog": Row(call="agentMemoryLog(agentId: {agent})", nothing="AgentNotFound"),
    "Query.botMemory": Row(call="botMemory(botId: {agent})", nothing="BotNotFound"),
    "Query.botMemoryLog": Row(call="botMemoryLog(botId: {agent})", nothing="BotNotFound"),
    "Query.botMemorySettings": Row(call="botMemorySettings(botId: {agent})", nothing="BotNotFound"),
    "Query.chatConfessions": Row(call="chatConfessions(chatId: {talk})", nothing="ChatNotFound"),
    "Query.chatEnrichments": Row(call="chatEnrichments(chatId: {talk})", nothing="ChatNotFound"),
    "Mutation.rememberSessionFact": Row(
        call='rememberSessionFact(sessionId: {session}, expectedHead: "v", expectedRevision: 0, key: "k", '
        'content: "c", kind: "fact")',
        nothing="SessionNotFound",
    ),
    "Mutation.forgetSessionFact": Row(
        call='forgetSessionFact(sessionId: {session}, expectedHead: "v", expectedRevision: 0, key: "k")',
        nothing="SessionNotFound",
    ),
    "Mutation.configureSessionMemory": Row(
        call='configureSessionMemory(sessionId: {session}, expectedHead: "v", expectedRevision: 0, use: false)',
        nothing="SessionNotFound",
    ),
    "Mutation.refreshSessionMemory": Row(
        call='refreshSessionMemory(sessionId: {session}, expectedHead: "v", expectedRevision: 0)',
        nothing="SessionNotFound",
    ),
    "Mutation.rememberForAgent": Row(
        call='rememberForAgent(agentId: {agent}, expectedVersion: 0, key: "k", content: "c", kind: "decision")',
        nothing="AgentNotFound",
    ),
    "Mutation.forgetForAgent": Row(
        call='forgetForAgent(agentId: {agent}, expectedVersion: 0, key: "k")', nothing="AgentNotFound"
    ),
    "Mutation.rememberForBot": Row(call='rememberForBot(botId: {agent}, content: "c")', nothing="BotNotFound"),
    "Mutation.forgetForBot": Row(call="forgetForBot(botId: {agent}, id: {record})", nothing="BotNotFound"),
    "Mutation.purgeBotMemory": Row(call='purgeBotMemory(botId: {agent}, tag: "chat:c")', nothing="BotNotFound"),
    "Mutation.setBotMemorySettings": Row(
        call='setBotMemorySettings(botId: {agent}, expectedVersion: 0, instructions: "i")', nothing="BotNotFound"
    ),
    "Mutation.createSession": only_hosts("createSession(agentId: {agent}, personId: {ana})"),
    "Mutation.createChat": only_hosts("createChat(botId: {agent}, organizationId: {organization}, personId: {ana})"),
    "Mutation.appendItem": only_hosts('appendItem(sessionId: {session}, item: {{type: "notification", text: "t"}})'),
    "Mutation.queueTurn": only_hosts('queueTurn(sessionId: {session}, turn: "t2", personId: {ana})'),
    "Mutation.beginTurn": only_hosts('beginTurn(chatId: {talk}, turn: "t2", operatorId: {ana}, input: "i")'),
    "Mutation.suspendTurn": only_hosts('suspendTurn(sessionId: {session}, turn: "t1")'),
    "Mutation.resumeTurn": only_hosts('resumeTurn(chatId: {talk}, turn: "t1")'),
    "Mutation.completeTurn": only_hosts('completeTurn(sessionId: {session}, turn: "t1")'),
    "Mutation.cancelTurn": only_hosts('cancelTurn(chatId: {talk}, turn: "t1")'),
    "Mutation.confide": only_hosts('confide(chatId: {talk}, turn: "t1", text: "t")'),
    "Mutation.forkSession": only_hosts('forkSession(sessionId: {session}, version: "v0")'),
    "Mutation.restoreVersion": only_hosts('restoreVersion(sessionId: {session}, version: "v0")'),
    "Mutation.promote": Row(call="promote(sessionId: {session})", nothing="Forbidden", admin=True),
    "Mutation.deleteSession": Row(call="deleteSession(sessionId: {session})", nothing="Forbidden", admin=True),
    "Mutation.deleteChatHistory": only_hosts("deleteChatHistory(chatId: {talk})"),
    "Query.memory": only_verbs("memory(memoryId: {memory})"),
    "Query.memories": Row(call="memories", selection=PAGE, nothing="forbidden"),
    "Query.memoryFile": only_verbs('memoryFile(memoryId: {memory}, path: "a.md")'),
    "Query.memoryRevisions": only_verbs("memoryRevisions(memoryId: {memory})", PAGE),
    "Query.memoryRevision": only_verbs("memoryRevision(memoryId: {memory}, seq: 1)"),
    "Query.memoryLog": Row(call="memoryLog(targetId: {memory})", selection=PAGE, nothing="forbidden", by="nobody"),
    "Query.memoryProviders": Row(call="memoryProviders", selection=PAGE, nothing="forbidden"),
    "Query.memoryProvider": only_verbs("memoryProvider(providerId: {provider})"),
    "Query.memoryRecords": only_verbs("memoryRecords(memoryId: {facts})"),
    "Query.memoryRecordSearch": only_verbs('memoryRecordSearch(memoryId: {facts}, query: "tea")'),
    "Query.runThread": only_verbs("runThread(threadId: {thread})"),
    "Query.agentProfile": only_verbs("agentProfile(agentId: {profile})"),
    "Query.workspaceRun": only_verbs("workspaceRun(runId: {work})"),
    "Mutation.createMemory": Row(
        call='createMemory(name: "M", type: "mem0_oss", providerId: {provider})', nothing="forbidden"
    ),
    "Mutation.updateMemory": only_verbs('updateMemory(memoryId: {memory}, expectedEtag: "x", name: "N")'),
    "Mutation.deleteMemory": only_verbs('deleteMemory(memoryId: {memory}, expectedEtag: "x")', ""),
    "Mutation.createMemoryFile": only_verbs('createMemoryFile(memoryId: {memory}, path: "b.md", content: "c")'),
    "Mutation.writeMemoryFile": only_verbs(
        'writeMemoryFile(memoryId: {memory}, path: "a.md", content: "c", expectedEtag: "x")'
    ),
    "Mutation.moveMemoryFile": only_verbs(
        'moveMemoryFile(memoryId: {memory}, source: "a.md", destination: "b.md", expectedEtag: "x")'
    ),
    "Mutation.deleteMemoryFile": only_verbs(
        'deleteMemoryFile(memoryId: {memory}, path: "a.md", expectedEtag: "x")', ""
    ),
    "Mutation.restoreMemoryRevision": only_verbs("restoreMemoryRevision(memoryId: {memory}, seq: 1)"),
    "Mutation.purgeMemoryHistory": only_verbs('purgeMemoryHistory(memoryId: {memory}, path: "a.md")', ""),
    "Mutation.createMemoryProvider": Row(
        call='createMemoryProvider(type: "mem0_oss", name: "P", config: {{base_url: "https://x"}})',
        nothing="forbidden",
        by="nobody",
    ),
    "Mutation.updateMemoryProvider": only_verbs(
        'updateMemoryProvider(providerId: {provider}, expectedEtag: "x", enabled: false)'
    ),
    "Mutation.testMemoryProvider": only_verbs("testMemoryProvider(providerId: {provider})"),
    "Mutation.addMemoryRecord": only_verbs('addMemoryRecord(memoryId: {facts}, text: "t")'),
    "Mutation.updateMemoryRecord": only_verbs('updateMemoryRecord(memoryId: {facts}, recordId: "r", text: "t")'),
    "Mutation.deleteMemoryRecord": only_verbs('deleteMemoryRecord(memoryId: {facts}, recordId: "r")', ""),
    "Mutation.createRunThread": Row(
        call='createRunThread(memories: [{{name: "team", memoryId: {memory}}}])', nothing="forbidden"
    ),
    "Mutation.archiveRunThread": only_verbs("archiveRunThread(threadId: {thread})"),
    "Mutation.unarchiveRunThread": only_verbs("unarchiveRunThread(threadId: {thread})"),
    "Mutation.compactRunThread": only_verbs("compactRunThread(threadId: {thread})", ""),
    "Mutation.mountMemory": only_verbs(
        'mountMemory(threadId: {thread}, expectedEtag: "x", name: "team", memoryId: {memory})'
    ),
    "Mutation.updateMemoryMount": only_verbs(
        'updateMemoryMount(threadId: {thread}, name: "team", expectedEtag: "x", recall: false)'
    ),
    "Mutation.unmountMemory": only_verbs('unmountMemory(threadId: {thread}, name: "team", expectedEtag: "x")'),
    "Mutation.createAgentProfile": Row(
        call='createAgentProfile(name: "A", memoryMounts: [{{name: "team", memoryId: {memory}}}])',
        nothing="forbidden",
    ),
    "Mutation.updateAgentProfile": only_verbs('updateAgentProfile(agentId: {profile}, expectedEtag: "x", name: "N")'),
    "Mutation.acceptRun": only_verbs('acceptRun(threadId: {thread}, agentId: {profile}, input: "i")'),
    "Mutation.startRunAttempt": only_verbs("startRunAttempt(runId: {work})"),
    "Mutation.checkpointRun": only_verbs("checkpointRun(runId: {work})"),
    "Mutation.completeRun": only_verbs('completeRun(runId: {work}, status: "completed")'),
    "Mutation.forkRun": only_verbs("forkRun(runId: {work})"),
    "Mutation.callRunTool": only_verbs(
        'callRunTool(runId: {work}, tool: "memory_file_view", toolCallId: "c", arguments: {{memory: "team"}})'
    ),
    "Query.sandboxSessions": Row(call="sandboxSessions", selection=PAGE, nothing="forbidden"),
    "Query.sandboxSession": only_verbs("sandboxSession(sessionId: {sandbox})"),
    "Query.sandboxFile": only_verbs('sandboxFile(sessionId: {sandbox}, path: "a.md")', "{ content }"),
    "Mutation.createSandboxSession": Row(
        call='createSandboxSession(snapshotId: {snapshot}, manifest: {{entries: [{{path: "b.md", content: "b"}}]}})',
        nothing="forbidden",
    ),
    "Mutation.deleteSandboxSession": only_verbs("deleteSandboxSession(sessionId: {sandbox})", ""),
    "Mutation.beginSandboxRun": only_verbs("beginSandboxRun(sessionId: {sandbox}, memory: {{}})"),
    "Mutation.recordSandboxRun": only_verbs(
        'recordSandboxRun(sessionId: {sandbox}, rollout: {{conversationId: "c", segment: {{input: "i", '
        'terminalMetadata: {{terminalState: "completed"}}}}}})'
    ),
    "Mutation.closeSandboxSession": only_verbs("closeSandboxSession(sessionId: {sandbox}, wait: false)"),
    "Mutation.createSandboxFile": only_verbs('createSandboxFile(sessionId: {sandbox}, path: "b.md", content: "c")'),
    "Mutation.writeSandboxFile": only_verbs(
        'writeSandboxFile(sessionId: {sandbox}, path: "a.md", content: "c", expectedEtag: "x")'
    ),
    "Mutation.deleteSandboxFile": only_verbs(
        'deleteSandboxFile(sessionId: {sandbox}, path: "a.md", expectedEtag: "x")', ""
    ),
    "Mutation.takeSandboxSnapshot": only_verbs("takeSandboxSnapshot(sessionId: {sandbox})"),
    "Mutation.deleteSandboxSnapshot": only_verbs("deleteSandboxSnapshot(snapshotId: {snapshot})", ""),
    "Subscription.auditFeed": Row(call="auditFeed", by="nobody"),
    "Subscription.dreamRunProgress": Row(call="dreamRunProgress(runId: {run})", by="nobody"),
    "Subscription.learningProgress": Row(call="learningProgress(materialId: {material})", by="nobody"),
}
"""Subscriptions over HTTP are refused for everyone alike; test_websocket looks at who hears what."""

OVER_HTTP = [name for name in ROWS if not name.startswith("Subscription.")]


def operations() -> set[str]:
    schema = build_schema()._schema
    kinds = (schema.query_type, schema.mutation_type, schema.subscription_type)
    return {f"{kind.name}.{name}" for kind in kinds if kind for name in kind.fields}


@pytest.mark.req("AD-8")
def test_every_operation_of_the_schema_has_a_row() -> None:
    assert operations() == set(ROWS)


async def ids_of(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> dict[str, str]:
    """Make what Ana owns; return the ids."""
    entry, other = await an_entry(world, ana, gid), await an_entry(world, ana, gid, "Kai", "Kai likes tea")
    conversation = await world.open(world.chat)
    base = NodeId(str(conversation.pool))
    prepared = await prepare_file(world.deps, world.caller(world.ana), base, b"Mia likes tea", filename="a.txt")
    material = await command(world.deps, world.caller(world.ana), lambda cmd: submit_file(cmd, base, prepared))
    log = await ana.ok("query($id: ID!) { auditLog(filter: {targetId: $id}) { edges { node { id } } } }", id=entry)
    guide = 'mutation($id: ID!) { setCurationGuide(principalId: $id, text: "mine", expectedVersion: 0) { version } }'
    await ana.ok(guide, id=gid(world.ana))
    run = await run_in(world, base)
    job = await job_of(world, "stage_a", f"{world.chat}:{base}", subject=world.chat)
    places = await places_of(world)
    return {
        **{name: gid(id_) for name, id_ in places.items()},
        "run": gid(run.id),
        "job": gid(job.id),
        "entry": entry,
        "other": other,
        "source": gid(await world.say(world.chat, "Lin likes tea too")),
        "record": log["auditLog"]["edges"][0]["node"]["id"],
        "material": gid(material.id),
        "conversation": gid(conversation.id),
        "channel": gid(world.chat),
        "base": gid(base),
        "owner": gid(world.atlas),
        "ana": gid(world.ana),
    }


def missing_ids(world: TeamWorld, ids: Mapping[str, str], gid: Gid) -> dict[str, str]:
    """Return ids of the same kinds that never existed; those of people and agents stay, for they are no secret."""
    found = {}
    for name, text in ids.items():
        decoded = GlobalId.decode(text)
        assert decoded is not None
        spec = kind_of(decoded.node)
        assert spec is not None
        keep = name in ("owner", "ana")
        found[name] = text if keep else gid(NodeId(f"{spec.prefix}_{world.name}/none/{name}"))
    return found


async def ask(client: GraphQLClient, name: str, ids: Mapping[str, str]) -> Answer:
    """Run the operation of a row about some ids."""
    row = ROWS[name]
    kind = name.partition(".")[0].lower()
    call = row.call.format(**{key: json.dumps(value) for key, value in ids.items()})
    if "$file" not in call:
        return await client.run(f"{kind} {{ it: {call} {row.selection} }}")
    return await client.upload(f"{kind}($file: Upload!) {{ it: {call} {row.selection} }}", "b.txt", b"other text")


def told(answer: Answer) -> Any:
    """Return all that an answer tells."""
    return answer.status, answer.data, answer.errors


@pytest.mark.req("AD-9", "AD-11")
@pytest.mark.parametrize("name", OVER_HTTP)
async def test_nobody_and_an_expired_token_get_401(
    name: str, client: GraphQLClient, world: TeamWorld, clock: FakeClock, gid: Gid
) -> None:
    expired = await world.token(world.dan, expires_at=clock.now())
    ids = dict.fromkeys(("entry", "other", "source", "record", "material"), gid(world.ana))
    ids |= dict.fromkeys(("conversation", "channel", "base", "owner", "ana", "run", "job"), gid(world.ana))
    ids |= dict.fromkeys(("session", "talk", "agent", "organization", "memory"), gid(world.ana))
    ids |= dict.fromkeys(("facts", "provider", "thread", "profile", "work", "sandbox", "snapshot"), gid(world.ana))
    answers = [await ask(client.as_(token), name, ids) for token in (None, expired)]
    assert [answer.status for answer in answers] == [401, 401]
    assert told(answers[0]) == told(answers[1])


@pytest.mark.req("KN-60", "KN-57", "AD-13")
@pytest.mark.parametrize("name", OVER_HTTP)
async def test_what_is_hidden_is_like_what_never_existed(
    name: str,
    world: TeamWorld,
    client: GraphQLClient,
    ana: GraphQLClient,
    ben: GraphQLClient,
    dan: GraphQLClient,
    eve: GraphQLClient,
    gid: Gid,
) -> None:
    row, ids = ROWS[name], await ids_of(world, ana, gid)
    missing = missing_ids(world, ids, gid)
    other = await TeamWorld(deps=world.deps).make()
    await other.grant(other.ben, Right.CURATOR, other.atlas)
    foreign = client.as_(await other.token(other.ben))
    for who in (foreign, ben, eve, *([] if row.admin else [dan])):
        hidden, never = await ask(who, name, ids), await ask(who, name, missing)
        assert told(hidden) == told(never)
        if row.nothing == "*" or (who is foreign and name == "Query.knowledgeBases"):
            continue
        if hidden.errors:
            assert hidden.codes == [row.nothing]
        elif name != "Query.knowledgeBases":
            assert hidden.data["it"] == json.loads(row.nothing)


@pytest.mark.req("AD-8")
@pytest.mark.parametrize("name", [name for name in OVER_HTTP if ROWS[name].by != "nobody"])
async def test_to_those_who_may_the_same_document_answers_otherwise(
    name: str,
    world: TeamWorld,
    ana: GraphQLClient,
    dan: GraphQLClient,
    host: GraphQLClient,
    gid: Gid,
) -> None:
    row, ids = ROWS[name], await ids_of(world, ana, gid)
    who = {"ana": ana, "dan": dan, "host": host}[row.by]
    answer = await ask(who, name, ids)
    assert not {"NOT_FOUND", "FORBIDDEN", "INTERNAL", row.nothing} & set(answer.codes)
    if not answer.errors and row.nothing.startswith(("{", "null")):
        assert answer.data["it"] != json.loads(row.nothing)
