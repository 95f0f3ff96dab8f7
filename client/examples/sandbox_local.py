"""An agent that learns from run to run, in a directory on this machine.

python sandbox_local.py                                    answers come from this file: no key, no network
python sandbox_local.py http://127.0.0.1:8080/v1 a-model   answers come from a server that speaks OpenAI's language
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from rootward import (
    Endpoint,
    Manifest,
    Model,
    ModelRequest,
    ModelResponse,
    SandboxAgent,
    UnixLocalSandboxClient,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.models import call

DESK = Manifest(entries={"README.md": {"type": "file", "content": "# Lead desk\nRun `make report` every Friday.\n"}})
REVIEWER = SandboxAgent(
    name="reviewer",
    instructions="You look after the lead desk in this workspace.",
    default_manifest=DESK,
    capabilities=[filesystem(), shell(), memory()],
)


class Played:
    """A model whose part is written down: it looks at the file once, and later runs remember."""

    async def generate(self, request: ModelRequest) -> ModelResponse | str | dict[str, str]:
        if request.output_schema is not None:
            return {
                "rollout_summary": "The user asked when the report is due. README.md says: every Friday.",
                "rollout_slug": "weekly-report",
                "raw_memory": "- The report is due every Friday (README.md). Sure.",
            }
        tools = {tool.name for tool in request.tools}
        answered = any(item.get("type") == "function_call_output" for item in request.input)
        if "shell" not in tools:
            return "Memory is up to date." if answered else _merged()
        if "every Friday" in request.instructions:
            return "On Friday; I remember that from last time."
        return "Every Friday." if answered else ModelResponse(output=[call("read_file", path="README.md")])


def _merged() -> ModelResponse:
    notes = {
        "MEMORY.md": "# Reports\n- Due every Friday: rollout_summaries/desk_weekly-report.md\n",
        "memory_summary.md": "- The report is due every Friday. Search for: report.\n",
    }
    calls = [call("write_file", path, path=path, content=text) for path, text in notes.items()]
    return ModelResponse(output=calls)


async def main(folder: Path, model: Model | Endpoint) -> None:
    """Ask in one session, close it, ask again in another that starts from its snapshot."""
    client = UnixLocalSandboxClient(folder, models={"gpt-5.4": model, "gpt-5.4-mini": model})
    async with await client.create() as sandbox:
        first = await run(REVIEWER, "When is the report due?", sandbox=sandbox, conversation_id="desk")
        print("first run: ", first.final_output)
    for layout in (await sandbox.close()).layouts:
        print("learned from:", ", ".join(layout.phase_two.selected))
    snapshot = await sandbox.snapshot()
    async with await client.create(snapshot=snapshot) as later:
        second = await run(REVIEWER, "When is the report due?", sandbox=later, conversation_id="desk")
        print("second run:", second.final_output)
        print("files:", *[path for path in await later.files.paths() if path.startswith(("memories", "sessions"))])


if __name__ == "__main__":
    chosen = Endpoint(base_url=sys.argv[1], model=sys.argv[2]) if len(sys.argv) == 3 else Played()
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary), chosen))
