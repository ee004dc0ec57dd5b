"""One bounded HTTP request with the Hub's own session: neither more bytes than asked for nor past a deadline."""

from __future__ import annotations

import os
from contextlib import contextmanager

from tonnage.errors import MissingExtraError, UsageError, WorldError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DEADLINE_S = 120.0  # of one reply, so that a server that drips bytes cannot hold us
MAX_SKIPPED_BYTES = 2**20  # of a reply that starts too early
OK, PARTIAL = 200, 206
INSTALL = "pip install 'huggingface_hub>=1.0'"


@value
class Reply:
    """`body` holds at most the bytes asked for and is empty on an error status. Header names are in lower case.

    `total_bytes` is the size of the whole file where the server tells it.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    total_bytes: int | None


def fetch(url: str, start: int, count: int) -> Reply:
    """Bytes `start` to `start + count` of what `url` holds; `WorldError` when the network or the server fails.

    A server that ignores the range is cut off after the bytes asked for. Redirects are followed; the token does not
    leave the host it is meant for. Proxy, certificates, token and timeout follow huggingface_hub's environment.
    """
    hub = _import_hub()
    with _translated(url, hub):
        return _stream(hub, url, start, count)


def endpoint(own: str | None) -> str:
    """Base address of the Hub: `own`, else HF_ENDPOINT, else the public one. `UsageError` if it is no web address."""
    from urllib.parse import urlsplit

    stated = own or os.environ.get("HF_ENDPOINT")
    # Importing huggingface_hub fails with an address it cannot take apart, so ours is looked at first.
    address = str(stated or _import_hub().constants.ENDPOINT).rstrip("/")
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets and ports
        is_valid = False
    if not is_valid:
        raise UsageError("HF_ENDPOINT", ascii(address), "an address that starts with http:// or https://")
    return address


def _import_hub() -> Any:
    try:
        import huggingface_hub
        from huggingface_hub import constants, errors, utils  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("huggingface_hub", "not installed", INSTALL) from error
    except ValueError as error:  # it reads its variables when it is imported
        raise UsageError("environment of huggingface_hub", str(error), "variables HF_... that it can read") from error
    hub: Any = huggingface_hub
    if not hasattr(hub.utils.get_session(), "stream"):  # before 1.0 it was built on another HTTP library
        raise MissingExtraError("huggingface_hub", hub.__version__, INSTALL)
    return hub


def _stream(hub: Any, url: str, start: int, count: int) -> Reply:
    import time

    headers = hub.utils.build_hf_headers(library_name="tonnage")
    headers |= {"range": f"bytes={start}-{start + count - 1}", "accept-encoding": "identity"}
    deadline = time.monotonic() + DEADLINE_S
    timeout = hub.constants.HF_HUB_DOWNLOAD_TIMEOUT
    session = hub.utils.get_session()
    with session.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
        received = {name.lower(): value for name, value in response.headers.items()}
        if response.status_code not in (OK, PARTIAL):
            return Reply(response.status_code, received, b"", None)
        begin, total = _range(url, response.status_code, received)
        if not 0 <= start - begin <= MAX_SKIPPED_BYTES:
            raise WorldError(url, f"sends from byte {begin}", f"a server that sends ranges (from byte {start})")
        body = _collect(response, start - begin + count, deadline)
    return Reply(response.status_code, received, body[start - begin :], total)


def _range(url: str, status: int, headers: dict[str, str]) -> tuple[int, int | None]:
    """First byte sent and size of the whole, from the reply's status and headers."""
    if headers.get("content-encoding", "identity") != "identity":
        raise WorldError(url, f"content-encoding {headers['content-encoding'][:40]}", "bytes as they are stored")
    if status == OK:
        length = headers.get("content-length", "")
        return 0, int(length) if _is_number(length) else None
    unit, _, rest = headers.get("content-range", "").partition(" ")
    span, _, total = rest.partition("/")
    begin = span.partition("-")[0]
    if unit != "bytes" or not _is_number(begin):
        raise WorldError(url, f"content-range {headers.get('content-range', '')[:40]!a}", "the range asked for")
    return int(begin), int(total) if _is_number(total) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20  # 64 bits


def _collect(response: Any, count: int, deadline: float) -> bytes:
    import time

    body = bytearray()
    # In the pieces that arrive: waiting for a full one would let a server that drips bytes pass its deadline.
    for chunk in response.iter_raw():
        body += chunk
        if len(body) >= count:
            break
        if time.monotonic() > deadline:
            raise WorldError(str(response.url), f"{len(body)} of {count} bytes in {DEADLINE_S:.0f} s", "a faster link")
    return bytes(body[:count])


@contextmanager
def _translated(url: str, hub: Any) -> Iterator[None]:
    # Base class of every network error of the HTTP library, whose name changed between releases of huggingface_hub.
    network_error = hub.errors.HfHubHTTPError.__bases__[0]
    try:
        yield
    except (network_error, OSError) as error:  # OSError: offline mode, sockets
        reason = str(error) or type(error).__name__
        raise WorldError(url, reason[:200], "a network that reaches the Hub") from error
