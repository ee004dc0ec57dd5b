"""A server that speaks as much of the Hub's protocol as a reader of headers needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "c0ffee" * 6 + "c0ff"


class FakeHubServer(ThreadingHTTPServer):
    """Files of one repository `org/name`, with switches for everything that goes wrong in the world.

    `ranges`: honour (206), ignore (200 with everything), wrong (another part), silent (206 without content-range).
    `status` and `code` answer every request with an error; `redirect_to` sends file requests to another server.
    `cut` ends replies after so many bytes, `is_stalled` holds the line open then; `endless` follows a file with bytes
    until the reader hangs up.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.info: bytes | None = None
        self.has_sizes = True
        self.ranges = "honour"
        self.status: int | None = None
        self.code: str | None = None
        self.redirect_to: str | None = None
        self.cut: int | None = None
        self.is_stalled = False
        self.released = threading.Event()
        self.encoding: str | None = None
        self.endless = False
        self.sent_bytes = 0
        self.requests: list[tuple[str, str | None, str | None]] = []

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Readers that hang up are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: FakeHubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        """Model description, or a file."""
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append((self.path, self.headers.get("range"), self.headers.get("authorization")))
        if self.server.status is not None:
            self.fail(self.server.status, self.server.code)
        elif path.startswith("/api/models/org/name/revision/"):
            self.describe(path.rpartition("/revision/")[2])
        elif path.startswith(("/org/name/resolve/", "/cdn/")):
            self.serve(path)
        else:
            self.fail(404, "RepoNotFound")

    def describe(self, revision: str) -> None:
        """The model description, for the revisions there are."""
        if revision not in ("main", "v1.0", "refs/pr/1"):
            self.fail(404, "RevisionNotFound")
            return
        sizes = self.server.has_sizes
        rows = [
            {"rfilename": name, **({"size": len(data)} if sizes else {})} for name, data in self.server.files.items()
        ]
        body = (
            self.server.info if self.server.info is not None else json.dumps({"sha": COMMIT, "siblings": rows}).encode()
        )
        self.reply(200, body, {})

    def serve(self, path: str) -> None:
        """A file or a part of it."""
        name = path.rpartition("/")[2]
        if self.server.redirect_to is not None and not path.startswith("/cdn/"):
            self.reply(302, b"", {"Location": f"{self.server.redirect_to}/cdn/{name}"})
            return
        if name not in self.server.files:
            self.fail(404, "EntryNotFound")
            return
        data = self.server.files[name]
        asked = self.headers["range"].removeprefix("bytes=")
        start, end = int(asked.split("-")[0]), min(int(asked.split("-")[1]) + 1, len(data))
        if self.server.ranges == "ignore":
            self.reply(200, data, {})
        elif start >= len(data):
            self.fail(416, None)
        else:
            start, end = (start + 7, end + 7) if self.server.ranges == "wrong" else (start, end)
            span = {} if self.server.ranges == "silent" else {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
            self.reply(206, data[start:end], span)

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """Send `body`, shortened or without end if the server is told so."""
        # read once: the test may turn the switches as soon as it has the whole reply
        is_endless, is_stalled, cut = self.server.endless, self.server.is_stalled, self.server.cut
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.server.encoding is not None:
            self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Length", str(10**10 if is_endless else len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])
        if is_stalled:
            self.server.released.wait()
        if cut is not None and cut < len(body):
            self.close_connection = True
        while is_endless:
            self.server.sent_bytes += self.wfile.write(bytes(65536))

    def fail(self, status: int, code: str | None) -> None:
        """An error as the Hub sends it."""
        self.reply(status, b"no", {"X-Error-Code": code} if code else {})


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHubServer]:
    """A running server; nothing of the user's own set-up for the Hub takes part."""
    yield from run_server(monkeypatch)


@pytest.fixture
def other_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHubServer]:
    """A second server, where files are redirected to."""
    yield from run_server(monkeypatch)


def run_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHubServer]:
    """Start a server on a free port and stop it afterwards."""
    from huggingface_hub import close_session, constants

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 5)
    server = FakeHubServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    close_session()
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()
