"""The tools that the capabilities give an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootward.errors import ToolError
from rootward.loop import telling, text_argument, text_parameters
from rootward.models import Tool
from rootward.sandbox.agent import SandboxAgent
from rootward.sandbox.capabilities import Filesystem, Shell
from rootward.sandbox.session import SandboxFiles, SandboxSession
from rootward.sandbox.truncation import keep_ends

_READ_LIMIT_TOKENS = 25_000


def agent_tools(agent: SandboxAgent, sandbox: SandboxSession) -> list[Tool]:
    """Return what an agent may call in a sandbox."""
    tools = [_shell_tool(agent.shell, sandbox)] if agent.shell else []
    return tools + (_FileTools(sandbox.files).tools(agent.filesystem) if agent.filesystem else [])


def _shell_tool(capability: Shell, sandbox: SandboxSession) -> Tool:
    async def invoke(arguments: Mapping[str, object]) -> str:
        done = await sandbox.execute(text_argument(arguments, "command"), timeout_s=capability.timeout_s)
        ended = "timed out" if done.timed_out else f"exit code {done.exit_code}"
        return f"{done.output}\n[{ended}]"

    return Tool(
        name="shell",
        description="Run a command with /bin/sh in the root of the workspace; returns its output and exit code.",
        parameters=text_parameters("command"),
        invoke=invoke,
        needs_approval=capability.needs_approval,
    )


@dataclass(frozen=True)
class _FileTools:
    files: SandboxFiles

    def tools(self, capability: Filesystem) -> list[Tool]:
        """Return the tools, those that change something waiting for approval where that is wanted."""
        waits = capability.needs_approval
        return [
            Tool(
                name="list_files",
                description="List the files below a directory of the workspace, one path a line.",
                parameters=text_parameters(optional=["directory"]),
                invoke=self._list,
            ),
            Tool(
                name="read_file",
                description="Read a text file; paths are relative to the workspace.",
                parameters=text_parameters("path"),
                invoke=self._read,
            ),
            Tool(
                name="write_file",
                description="Write a text file; what it held is replaced.",
                parameters=text_parameters("path", "content"),
                invoke=self._write,
                needs_approval=waits,
            ),
            Tool(
                name="edit_file",
                description="Replace a text that stands exactly once in a file by another.",
                parameters=text_parameters("path", "old", "new"),
                invoke=self._edit,
                needs_approval=waits,
            ),
            Tool(
                name="delete_file",
                description="Delete a file.",
                parameters=text_parameters("path"),
                invoke=self._delete,
                needs_approval=waits,
            ),
        ]

    async def _list(self, arguments: Mapping[str, object]) -> str:
        directory = text_argument(arguments, "directory") if arguments.get("directory") is not None else ""
        with telling():
            return keep_ends("\n".join(await self.files.paths(directory)), _READ_LIMIT_TOKENS)

    async def _read(self, arguments: Mapping[str, object]) -> str:
        return keep_ends(await self._there(text_argument(arguments, "path")), _READ_LIMIT_TOKENS)

    async def _write(self, arguments: Mapping[str, object]) -> str:
        with telling():
            await self.files.write_text(text_argument(arguments, "path"), text_argument(arguments, "content"))
        return "written"

    async def _edit(self, arguments: Mapping[str, object]) -> str:
        path, old = text_argument(arguments, "path"), text_argument(arguments, "old")
        text = await self._there(path)
        if text.count(old) != 1:
            raise ToolError(
                f"the old text must stand exactly once in the file; it stands there {text.count(old)} times"
            )
        with telling():
            await self.files.write_text(path, text.replace(old, text_argument(arguments, "new")))
        return "changed"

    async def _delete(self, arguments: Mapping[str, object]) -> str:
        with telling():
            await self.files.delete(text_argument(arguments, "path"))
        return "deleted"

    async def _there(self, path: str) -> str:
        with telling():
            text = await self.files.read_text(path)
        if text is None:
            raise ToolError("there is no such file")
        return text
