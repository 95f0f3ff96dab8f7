"""When to send again, decided without a network or a clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rootward.service.calls import Call, Lost, Reply
from rootward.service.failures import retry_after_s


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often and how patiently to send again.

    A 503 that names `Retry-After` changed nothing and is repeated. Where no answer came the call may have been done, so
    only reads and calls with an idempotency key are repeated.

    Attributes:
        most: tries after the first.
        pause_s: before the first repetition after a lost connection; doubles each time.
        longest_s: a service that asks for a longer pause is not waited for.
    """

    most: int = 2
    pause_s: float = 0.5
    longest_s: float = 30.0

    def pause(self, call: Call[Any], repeated: int, outcome: Reply | Lost) -> float | None:
        """Return the seconds to wait before the call is sent again; None: this outcome counts.

        Args:
            call: what was sent.
            repeated: how often it was sent again already.
            outcome: what came of it.
        """
        if repeated >= self.most:
            return None
        if isinstance(outcome, Lost):
            return self.pause_s * 2**repeated if call.repeatable else None
        wanted = retry_after_s(outcome.headers) if outcome.status == 503 else None
        return wanted if wanted is not None and wanted <= self.longest_s else None
