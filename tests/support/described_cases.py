"""Every operation of the reference, asked by schemathesis with what fits and with what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx2
import requests
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as running
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response

from tests.support.described_service import BASE, DescribedService

_FILE = "{path}"
_REFUSED = [*range(400, 430)]
_CONFIG = schemathesis.Config.from_dict(
    {
        "checks": {
            # No schema tells what a cursor or a path of a file is, or which tag is the newest.
            "positive_data_acceptance": {"expected-statuses": ["2xx", 304, 400, 401, 403, 404, 409, 412, 422]},
            "negative_data_rejection": {"expected-statuses": _REFUSED},
            "missing_required_header": {"expected-statuses": _REFUSED},
        }
    }
)


@dataclass
class Findings:
    """What came of asking.

    Attributes:
        faults: where an answer and the reference do not agree, with the request that shows it.
        states: how often each state was answered, by operation such as ``GET /v1/sessions/{sessionId}``.
    """

    faults: list[str] = field(default_factory=list)
    states: dict[str, Counter[int]] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many requests were sent."""
        return sum(found.total() for found in self.states.values())


@dataclass(frozen=True)
class Way:
    """One way to ask.

    Attributes:
        most: how many cases.
        known: the path means something that is there.
        fits: body and query hold what can succeed, in all fields whose names are known.
    """

    mode: GenerationMode
    most: int
    known: bool = True
    fits: bool = False


def ask_everything(service: DescribedService, each: int, *, only: str = "") -> Findings:
    """Ask every operation 3 * `each` + 1 times at most; those that remove or end something come last.

    Args:
        service: what is asked.
        each: cases of one way to ask.
        only: a path whose operations alone are asked.
    """
    ways = (
        Way(GenerationMode.POSITIVE, each, fits=True),
        Way(GenerationMode.POSITIVE, each),
        Way(GenerationMode.NEGATIVE, each),
        Way(GenerationMode.POSITIVE, 1, known=False),
    )
    findings = Findings()
    schema = schemathesis.openapi.from_dict(service.document, config=_CONFIG)
    found = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    for operation in sorted((one for one in found if only in ("", one.path)), key=_turn):
        findings.states[operation.label] = Counter()
        for way in ways:
            _ask(service, operation, way, findings)
    return findings


def unsigned(service: DescribedService) -> Mapping[str, tuple[int, list[str]]]:
    """Return what each operation that takes a credential answers without one, and the states that it lists."""
    answered = {}
    for path, method, operation in operations(service.document):
        if operation.get("security") != []:
            service.wait(60)  # who fails to sign in too often must wait
            sent = requests.Request(method.upper(), service.url(path)).prepare()
            answered[f"{method.upper()} {path}"] = (service.send(sent).status_code, list(operation["responses"]))
    return answered


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield path, method and description of every operation."""
    for path, item in document["paths"].items():
        yield from ((path, method, operation) for method, operation in item.items() if method != "parameters")


def _turn(operation: Any) -> tuple[int, int]:
    """Return when an operation has its turn: later if it ends or removes what others need."""
    last = ("/complete", "/close", "{thread_id}/runs", "DELETE", "/archive", "{provider_id}")
    known_by = operation.label if operation.method != "delete" else "DELETE"
    ends = [place for place, word in enumerate(last, 1) if known_by.endswith(word)]
    return max(ends, default=0), -len(operation.path)


def _fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Collection[str]:
    """Return the names of all fields of an operation's body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {"schema": {}})
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    shape = document["components"]["schemas"].get(name, {})
    return set(shape.get("properties", ()))


def _ask(service: DescribedService, operation: Any, way: Way, findings: Findings) -> None:
    path = operation.path
    headers = {"Authorization": f"Bearer {service.token(path)}"}
    takes_tag = any(parameter["name"] == "If-Match" for parameter in operation.definition.raw.get("parameters", ()))
    if takes_tag and way.known:
        headers["If-Match"] = ""  # put in below: each change makes another
    ids = service.ids(path) if way.known else None
    fields = _fields(service.document, operation.definition.raw)

    @running(
        max_examples=way.most, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=way.mode, path_parameters=ids, headers=headers))
    def run(case: Any) -> None:
        if takes_tag and way.known:
            case.headers["If-Match"] = service.tag(path) or "none"
        if way.fits and isinstance(case.body, dict):
            case.body = {**case.body, **service.fitting(path, fields)}
        if way.fits and "path" in case.query:
            case.query["path"] = unquote(service.ids(_FILE)["path"])
        _send(service, case, findings)

    try:
        run()
    except Unsatisfiable:
        assert way.mode is GenerationMode.NEGATIVE, "it takes nothing that could be wrong"


def _send(service: DescribedService, case: Any, findings: Findings) -> None:
    sent = case.as_transport_kwargs(base_url=BASE)
    sent.pop("cookies", None)
    prepared = requests.Request(**sent).prepare()
    answer = service.send(prepared)
    findings.states[case.operation.label][answer.status_code] += 1
    again = CHECKS.get_by_names(["ignored_auth"])  # would send once more: `unsigned` looks at that
    try:
        case.validate_response(_answer(prepared, answer), excluded_checks=again)
    except FailureGroup as faults:
        shown = f"{prepared.method} {prepared.url} {prepared.body!r:.300} -> {answer.status_code} {answer.text:.300}"
        findings.faults += [f"{type(fault).__name__}: {fault}\n  {shown}" for fault in faults.exceptions]


def _answer(prepared: requests.PreparedRequest, answer: httpx2.Response) -> Response:
    return Response(
        status_code=answer.status_code,
        headers={name: answer.headers.get_list(name) for name in answer.headers},
        content=answer.content,
        request=prepared,
        elapsed=0.0,
        verify=False,
        encoding="utf-8",
    )
