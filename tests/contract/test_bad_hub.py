"""A hub that is not there, or not what it should be: exit code 3 (2 for what is not found), and soon."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from outcome import Outcome, run_bounded
from samples import CONFIG

QUESTION = ["fit", "hf:org/name", "--on", "1xH100", "--json"]
CONFIG_FILE = json.dumps(CONFIG).encode()


class Server(ThreadingHTTPServer):
    """Answers everything with `reply`, raw bytes of HTTP; waits with the connection open if there is none."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply: Callable[[str], bytes] | None = None
        self.released = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Readers that hang up are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        """The reply."""
        if self.server.reply is None:
            self.server.released.wait()
        else:
            self.wfile.write(self.server.reply(self.path))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A running server."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def http(status: int, body: bytes = b"", *headers: str) -> bytes:
    """A reply."""
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def asked(server: Server, reply: Callable[[str], bytes] | bytes | None, **variables: str) -> Outcome:
    """The question put to a hub that answers so."""
    server.reply = (lambda _: reply) if isinstance(reply, bytes) else reply
    return ask_at(f"http://127.0.0.1:{server.server_port}", **variables)


def ask_at(address: str, **variables: str) -> Outcome:
    """The question put to the hub at an address."""
    reachable = {"NO_PROXY": "127.0.0.1", "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": address}
    return run_bounded(QUESTION, **reachable | variables)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "https://127.0.0.1:9", "http://nowhere.invalid"])
def test_nobody_listens(address: str) -> None:
    outcome = ask_at(address)
    assert outcome.code == 3
    assert outcome.error.endswith(": a network that reaches the Hub")


@pytest.mark.parametrize(
    "address", ["", "junk", "ftp://x", "http://", "http://[::1", "http://127.0.0.1:99999", "file:///x", "\x1b[31m"]
)
def test_addresses_that_are_none(address: str) -> None:
    outcome = ask_at(address)
    assert outcome.code == 2
    assert outcome.error.startswith("HF_ENDPOINT: ")


def test_an_environment_that_cannot_be_read() -> None:
    assert ask_at("http://127.0.0.1:9", HF_HUB_DOWNLOAD_TIMEOUT="soon").code == 2
    assert ask_at("http://127.0.0.1:9", HF_HUB_OFFLINE="1").code == 3


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (http(404), 2), (http(401), 2), (http(403), 2), (http(500), 3), (http(503), 3), (http(429), 3), (http(204), 3),
        (http(200), 3), (http(200, b"\xff" * 5000), 3), (http(200, b"<html>"), 3), (http(200, b"[]"), 3),
        (http(200, b"null"), 3), (http(200, b"{}"), 3), (http(200, b'{"siblings": [1]}'), 3), (b"", 3),
        (b"\xff" * 99, 3),
        (http(200, b"[" * 100_000), 3), (http(200, b'{"siblings": null}'), 3), (b"hello\r\n\r\n", 3),
        (http(200, b"{}").replace(b"length: 2", b"length: 9"), 3), (http(200, b"xxxx", "Content-Encoding: gzip"), 3),
        (http(302, b"", "Location: /again"), 3), (http(302, b"", "Location: file:///etc/passwd"), 3),
        (http(302, b"", "Location: http://["), 3), (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 3),
        (b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n{}", 3),
    ],
    ids=range(26),
)  # fmt: skip
def test_replies_that_are_none(server: Server, reply: bytes, code: int) -> None:
    assert asked(server, reply).code == code


def test_a_server_that_never_answers(server: Server) -> None:
    outcome = asked(server, None, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert outcome.code == 3
    assert "timed out" in outcome.error


def repository(files: dict[str, bytes], **odd: Any) -> Callable[[str], bytes]:
    """Replies of a repository with some files; `odd` overrides what its description says."""
    rows = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
    info = json.dumps({"sha": "c" * 40, "siblings": rows} | odd).encode()

    def reply(path: str) -> bytes:
        name = path.rpartition("/")[2]
        return http(200, info) if path.startswith("/api/") else http(200, files[name]) if name in files else http(404)

    return reply


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (repository({"config.json": CONFIG_FILE}), 0),
        (repository({"config.json": b"{"}), 2),
        (repository({"README.md": b"x"}), 2),
        (repository({}), 2),
        (repository({"config.json": CONFIG_FILE, "model.safetensors": b"\xff" * 99}), 2),
        (repository({"config.json": CONFIG_FILE}, sha="../../x\x1b[31m"), 0),
        (repository({}, siblings=[{"rfilename": "config.json", "size": 10}]), 2),  # listed, but not there
        (repository({}, siblings=[{"rfilename": "config.json", "size": 10**30}]), 2),
        (repository({}, siblings=[{"rfilename": "../../etc/passwd", "size": -1}]), 2),
    ],
)
def test_repositories(server: Server, reply: Callable[[str], bytes], code: int) -> None:
    assert asked(server, reply).code == code


@pytest.mark.parametrize(
    "name",
    [
        "hf:", "hf:/", "hf:a", "hf:a/b/c", "hf:../x/y", "hf:org/na me", "hf:org/name@", "hf:org/name@../x", "hf:ü/x",
        "hf:\x1b[31m/x", "hf:org/..", "hf:org/name/x.gguf@r",
    ],
)  # fmt: skip
def test_malformed_names_never_reach_the_network(name: str) -> None:
    outcome = run_bounded(["fit", name, "--on", "1xH100"], HF_ENDPOINT="http://127.0.0.1:9")
    assert outcome.code == 2
    assert "hf:ORG/NAME" in outcome.err
