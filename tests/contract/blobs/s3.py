"""An S3-compatible server for tests, started as a process of its own on a free port of loopback."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

BUCKET = "rootward-test"
_CREDENTIAL = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


@contextmanager
def s3_server() -> Iterator[str]:
    """Yield the address of a running server that has the bucket `BUCKET`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = _address(process)
        httpx2.put(f"{url}/{BUCKET}", headers={"Authorization": _CREDENTIAL}).raise_for_status()
        yield url
    finally:
        process.terminate()
        process.wait()
        if process.stderr:
            process.stderr.close()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"Running on (http://127\.0\.0\.1:\d+)", line)
        if found:
            return found[1]
    raise AssertionError("the S3 server did not start")
