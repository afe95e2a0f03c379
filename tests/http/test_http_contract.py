"""The API's description is complete, and what comes in against it or by it is answered as it says."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from http_live import Live

pytest_plugins = ["http_fixtures"]

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


def test_each_operation_says_what_it_is_and_what_it_answers(single: Live) -> None:
    described = single.nobody.get("/openapi.json").json()
    operations = [
        (path, method, each) for path, methods in described["paths"].items() for method, each in methods.items()
    ]
    assert len(operations) > 50
    for path, method, each in operations:
        assert each["summary"], (path, method)
        assert each["description"], (path, method)
        assert any(status < "400" for status in each["responses"]), (path, method)
        public = path in ("/v1/healthz", "/readyz", "/metrics", "/p/{slug}") or path.startswith("/v1/invites/")
        assert public != bool(each.get("security")), (path, method)
        if method in ("post", "patch") and each.get("requestBody"):
            assert each["requestBody"]["content"]["application/json"]["schema"], (path, method)
    assert "HTTPValidationError" not in str(described)
    assert len({each["operationId"] for _, _, each in operations}) == len(operations)


def _operations(live: Live) -> dict[str, Any]:
    schema = schemathesis.openapi.from_dict(live.nobody.get("/openapi.json").json())
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    assert len(found) > 50
    return {each.label: each for each in found if each.path != "/mcp"}


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_what_the_description_allows_and_what_it_does_not_is_answered_as_it_says(
    single: Live, mode: schemathesis.GenerationMode
) -> None:
    token = single.token("fuzzer", "admin")
    for operation in _operations(single).values():
        _try(single, operation, mode, token)


def _try(live: Live, operation: Any, mode: schemathesis.GenerationMode, token: str) -> None:
    cases = operation.as_strategy(generation_mode=mode)

    @settings(max_examples=3, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def one(data: st.DataObject) -> None:
        case = data.draw(cases)
        headers = {"Authorization": f"Bearer {token}"}
        case.call_and_validate(base_url=live.url, headers=headers, checks=CHECKS)

    # An operation that takes nothing has nothing to be wrong about.
    with contextlib.suppress(Unsatisfiable):
        one()
