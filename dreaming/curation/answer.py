"""The answer of both learners: a list of operations, read one by one when it is applied (DR-42, bug case 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic_core import PydanticCustomError

from dreaming.curation.names import Names


class OperationList(BaseModel):
    """What a model answers; what an operation has to be is judged operation by operation."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    operations: list[dict[str, Any]]


def operation_list(names: Names, max_operations: int) -> type[OperationList]:
    """Return the form of an answer about a prompt: not too long, and no `ref` that is a name of the prompt (DR-42)."""

    class Checked(OperationList):
        @field_validator("operations", mode="after")
        @classmethod
        def _fits(cls, operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
            if len(operations) > max_operations:
                raise PydanticCustomError("operations", "send at most {most} operations", {"most": max_operations})
            if any(_ref(operation) in names for operation in operations):
                raise PydanticCustomError("ref", "a ref must not be an id of what was shown: use new1, new2, …")
            return operations

    return Checked


def _ref(operation: Mapping[str, Any]) -> str:
    ref = operation.get("ref")
    return ref if isinstance(ref, str) else ""
