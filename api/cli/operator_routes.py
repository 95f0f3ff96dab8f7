"""What the operator of the machine may ask a running server: a whole export, an evidence bundle, new keys.

An archive holds private chats, which no right opens (AD-5); whoever can read the store's file has them anyway. So
these routes ask for a secret that lies beside it, made anew at every start, and they write where this machine's
operator says. They are there on the embedded store and on Neo4j alike.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from api.auth import Authenticator
from api.graphql.http import failure
from api.incoming import address_of
from api.observability import log_fault
from graph.model.errors import BadInput, Forbidden, RootwardError
from graph.services.deps import Deps

HEADER = "rootward-operator"
Work = Callable[[Request, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


def operator_routes(find: Callable[[], Deps], secret: str) -> Sequence[BaseRoute]:
    """Return the routes; `find` gives the service once it is wired."""

    async def export(_: Request, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from graph.services.admin.archive import export_archive

        receipt = await export_archive(find(), _target(asked))
        return {"rows": dict(receipt.rows), "blobs": receipt.blobs, "missingBlobs": list(receipt.missing_blobs)}

    async def bundle(request: Request, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from api.cli.bundling import bundle as make

        caller = await Authenticator(deps=find()).caller(request.headers.get("authorization"), address_of(request))
        return {"files": await make(find(), caller, str(asked.get("id", "")), _target(asked))}

    async def keys(_: Request, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from api.cli.keys import operate

        return {"workspaces": await operate(find(), str(asked.get("do", "")))}

    async def bot_memory(request: Request, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from api.cli.importing_memory import load

        caller = await Authenticator(deps=find()).caller(request.headers.get("authorization"), address_of(request))
        return asdict(await load(find(), caller, str(asked.get("bot", "")), _target(asked)))

    works = {"export": export, "bundle": bundle, "keys": keys, "bot-memory": bot_memory}
    return [Route(f"/operator/{name}", _guarded(work, secret), methods=["POST"]) for name, work in works.items()]


def _guarded(work: Work, secret: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get(HEADER, "").encode(), secret.encode()):
            return failure(Forbidden("this is for the operator of the machine"))
        try:
            asked = await request.json()
            return JSONResponse(await work(request, asked if isinstance(asked, dict) else {}))
        except RootwardError as error:
            return failure(error)
        except ValueError:
            return failure(BadInput("the body is not JSON", field="body"))
        except OSError as error:
            log_fault(error)
            return failure(BadInput(f"the file cannot be written: {error.strerror}", field="path"))

    return answer


def _target(asked: Mapping[str, Any]) -> Path:
    path = Path(str(asked.get("path", "")))
    if not path.is_absolute():
        raise BadInput("give an absolute path", field="path")
    return path
