"""Every route does what the OpenAPI document says: states, bodies and content types, for what fits and what does not.

schemathesis makes the requests out of the document, so a new route is asked as soon as it is listed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.described_cases import Findings, ask_everything, operations, unsigned
from tests.support.described_service import DescribedService
from tests.support.profile import sized

EACH = sized(small=3, full=300)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DescribedService]:
    made = DescribedService(tmp_path_factory.mktemp("described"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def findings(service: DescribedService) -> Findings:
    """What came of asking every operation; the service is much changed by it."""
    return ask_everything(service, EACH)


def test_no_route_answers_without_a_token_that_takes_one(service: DescribedService) -> None:
    answered = unsigned(service)
    assert len(answered) > 50
    assert {label: state for label, (state, _) in answered.items() if state != 401} == {}
    assert [label for label, (_, listed) in answered.items() if "401" not in listed] == []


@pytest.mark.soak
@pytest.mark.req("SM-30")
def test_answers_are_as_documented_and_what_does_not_fit_is_refused(findings: Findings) -> None:
    assert findings.cases > 400
    assert findings.faults == []
    faults = {label: states for label, states in findings.states.items() if max(states) >= 500}
    assert faults == {}


@pytest.mark.soak
@pytest.mark.req("SM-30")
def test_every_route_of_the_document_does_its_work_for_some_request(findings: Findings) -> None:
    never = {label: dict(states) for label, states in findings.states.items() if min(states) >= 300}
    assert never == {}


@pytest.mark.parametrize(
    ("path", "state", "kind"),
    [
        ("/api/v1/memories/{memory_id}", "404", "UndefinedStatusCode"),
        ("/v1/sessions/{sessionId}", "200", "UndefinedStatusCode"),
        ("/metrics", "200", "UndefinedContentType"),
    ],
)
def test_an_untrue_document_is_noticed(service: DescribedService, path: str, state: str, kind: str) -> None:
    said = service.document["paths"][path]["get"]["responses"]
    told = said.pop(state)
    if kind == "UndefinedContentType":
        said[state] = {**told, "content": {"application/json": {}}}
    else:
        said["299"] = told
    try:
        faults = ask_everything(service, 1, only=path).faults
    finally:
        said.pop("299", None)
        said[state] = told
    assert any(kind in fault for fault in faults), faults


def test_every_operation_has_its_place_in_the_document(service: DescribedService) -> None:
    listed = {path for path, _, _ in operations(service.document)}
    assert {"/blobs/{id}", "/metrics", "/health/live", "/health/ready", "/openapi.json"} <= listed
