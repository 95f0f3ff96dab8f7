"""Upgrades to WebSocket that are no handshake: each is told so, and its connection is closed.

What speaks WebSocket says nothing to a request that it cannot read, such as one with a body or a very long line: it
would wait for ever, and the end of the server would stumble over it.
"""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from api.graphql.http import refusal


class Sockets(WebSocketsSansIOProtocol):
    """Connections that asked for WebSocket."""

    def data_received(self, data: bytes) -> None:
        """Read what came, and refuse what is no handshake; one with wrong headers was answered already."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.close_sent:
            self._refuse()

    def _refuse(self) -> None:
        self.handshake_complete = self.close_sent = True
        self.transport.write(_refusal())
        self.transport.close()


def _refusal() -> bytes:
    told = refusal(400, "BAD_INPUT", "this is no handshake: send a GET without a body", {"Connection": "close"})
    headers = b"".join(name + b": " + value + b"\r\n" for name, value in told.raw_headers)
    return b"HTTP/1.1 400 Bad Request\r\n" + headers + b"\r\n" + bytes(told.body)
