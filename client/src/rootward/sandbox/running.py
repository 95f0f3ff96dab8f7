"""Running an agent once in a sandbox, and recording how it went. Source: SB-29, SB-40 to SB-51."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from rootward.errors import GuardrailTripped, MaxTurnsExceeded, RootwardError
from rootward.loop import Loop, unanswered
from rootward.models import Item
from rootward.sandbox.agent import SandboxAgent
from rootward.sandbox.conversation import Session
from rootward.sandbox.engine import Recorded
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.segments import Segment, TerminalMetadata, TerminalState, input_items
from rootward.sandbox.session import SandboxSession
from rootward.sandbox.tools import agent_tools

DEFAULT_MAX_TURNS = 50
_log = logging.getLogger("rootward")


@dataclass(kw_only=True)
class RunState:
    """A run that waits for approval; decide on each of its interruptions, then give it to `run` as input.

    Attributes:
        history: the conversation so far, the waiting calls included.
        interruptions: the calls that wait.
    """

    history: Sequence[Item]
    interruptions: Sequence[Item]
    _approved: dict[str, bool] = field(default_factory=dict)

    def approve(self, call: Item) -> None:
        """Let a call be made."""
        self._approved[str(call.get("call_id"))] = True

    def reject(self, call: Item) -> None:
        """Refuse a call; the model is told."""
        self._approved[str(call.get("call_id"))] = False

    def is_approved(self, call: Item) -> bool:
        """Return the decision.

        Raises:
            ValueError: there is none yet.
        """
        decision = self._approved.get(str(call.get("call_id")))
        if decision is None:
            raise ValueError("approve or reject every interruption before running on")
        return decision


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What a run came to.

    Attributes:
        final_output: the last answer of the model; None if calls wait for approval.
        new_items: what the run added, in order.
        interruptions: calls that wait for approval.
        recorded: where memory recorded the run; None if it did not.
        state: to go on with once the interruptions are decided; None without any.
    """

    final_output: str | None
    new_items: Sequence[Item]
    interruptions: Sequence[Item] = ()
    recorded: Recorded | None = None
    state: RunState | None = None


async def run(
    agent: SandboxAgent,
    input: str | Sequence[Item] | RunState,
    *,
    sandbox: SandboxSession,
    session: Session | None = None,
    conversation_id: str | None = None,
    group_id: str | None = None,
    max_turns: int = DEFAULT_MAX_TURNS,
) -> RunResult:
    """Run an agent once and return what it came to.

    Args:
        agent: what it may do, and how it remembers.
        input: what the user says, as text or items; or the state of a run that waited for approval.
        sandbox: the workspace it works in.
        session: history that the run is given and adds to.
        conversation_id: names the memory conversation; without it the session does (SB-53).
        group_id: names it where neither a conversation id nor a session is given.
        max_turns: answers of the model, at most.

    Raises:
        MissingCapability: the agent lacks what its memory needs; no model was called.
        MemoryLayoutClash: its memory does not go with another of this sandbox session; no model was called.
        SandboxClosedError: the sandbox session is closed.
        MaxTurnsExceeded: the model did not come to an end. Whatever else a model raises comes through, recorded.
    """
    agent.check()
    state = input if isinstance(input, RunState) else None
    given = [] if isinstance(input, RunState) else input_items(input)
    reference = ConversationRef(
        conversation_id=conversation_id, session_id=session.session_id if session else None, group_id=group_id
    )
    async with sandbox.running():
        told = await sandbox.begin_run(agent.memory, agent.default_manifest)
        history = state.history if state else await session.get_items() if session else []
        attempt = _Attempt(agent=agent, sandbox=sandbox, session=session, reference=reference, given=given, state=state)
        return await attempt.go(history=history, told=told, max_turns=max_turns)


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """One run from its first question to its line in the conversation file."""

    agent: SandboxAgent
    sandbox: SandboxSession
    session: Session | None
    reference: ConversationRef
    given: Sequence[Item]
    state: RunState | None
    generated: list[Item] = field(default_factory=list)

    async def go(self, *, history: Sequence[Item], told: str | None, max_turns: int) -> RunResult:
        try:
            output = await self._loop(told, max_turns, [*history, *self.given])
        except BaseException as error:
            await self._finish(_ended_by(error))
            raise
        waiting = unanswered(self.generated) if output is None else []
        ended = TerminalMetadata(
            terminal_state=TerminalState.INTERRUPTED if waiting else TerminalState.COMPLETED,
            has_final_output=output is not None,
        )
        return RunResult(
            final_output=output,
            new_items=self.generated,
            interruptions=waiting,
            recorded=await self._finish(ended, output=output, waiting=waiting),
            state=self._waiting([*history, *self.given], waiting),
        )

    async def _loop(self, told: str | None, max_turns: int, before: Sequence[Item]) -> str | None:
        loop = Loop(
            model=self.sandbox.model(self.agent.model),
            instructions="\n\n".join(part for part in (self.agent.instructions, told) if part),
            tools=agent_tools(self.agent, self.sandbox),
            max_turns=max_turns,
            generated=self.generated,
        )
        for call in self.state.interruptions if self.state else ():
            await loop.settle(call, approved=self.state is not None and self.state.is_approved(call))
        return await loop.go(before)

    def _waiting(self, before: Sequence[Item], waiting: Sequence[Item]) -> RunState | None:
        return RunState(history=[*before, *self.generated], interruptions=waiting) if waiting else None

    async def _finish(
        self, ended: TerminalMetadata, *, output: str | None = None, waiting: Sequence[Item] = ()
    ) -> Recorded | None:
        """Record the run, and add to the history what has a result."""
        recorded = await self._record(
            Segment(
                input=self.given,
                generated_items=self.generated,
                interruptions=waiting,
                terminal_metadata=ended,
                final_output=output,
            )
        )
        if self.session is not None:
            open_calls = unanswered(self.generated)
            settled = self.state.interruptions if self.state else ()
            done = [item for item in (*settled, *self.generated) if item not in open_calls]
            await self.session.add_items([*self.given, *done])
        return recorded

    async def _record(self, segment: Segment) -> Recorded | None:
        """Record the run if its agent remembers; a failure is logged and changes nothing. Source: SB-51."""
        if self.agent.memory is None:
            return None
        try:
            return await self.sandbox.record(self.agent.memory, self.reference, segment)
        except Exception as failure:  # noqa: BLE001  whatever it is, the run's own result counts
            told = str(failure) if isinstance(failure, RootwardError) else type(failure).__name__
            _log.error("a run was not recorded: %s", told)
            return None


def _ended_by(error: BaseException) -> TerminalMetadata:
    return TerminalMetadata(
        terminal_state=_state_of(error), exception_type=type(error).__name__, exception_message=str(error) or None
    )


def _state_of(error: BaseException) -> TerminalState:
    if isinstance(error, asyncio.CancelledError):
        return TerminalState.CANCELLED
    if isinstance(error, MaxTurnsExceeded):
        return TerminalState.MAX_TURNS_EXCEEDED
    return TerminalState.GUARDRAIL_TRIPPED if isinstance(error, GuardrailTripped) else TerminalState.FAILED
