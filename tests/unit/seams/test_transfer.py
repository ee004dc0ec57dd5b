"""Single requests; the Hub's own behaviour is in test_hub."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tonnage.errors import MissingExtraError, UsageError, WorldError
from tonnage.seams.transfer import endpoint, fetch


def test_a_range_and_the_size_of_the_whole(hub_server: Any) -> None:
    hub_server.files = {"f": bytes(range(50))}
    reply = fetch(f"{hub_server.url}/cdn/f", 10, 5)
    assert (reply.status, reply.body, reply.total_bytes) == (206, bytes(range(10, 15)), 50)
    assert reply.headers["content-range"] == "bytes 10-14/50"


def test_an_error_status_has_no_body(hub_server: Any) -> None:
    reply = fetch(f"{hub_server.url}/cdn/nothing", 0, 5)
    assert (reply.status, reply.body, reply.total_bytes) == (404, b"", None)
    assert reply.headers["x-error-code"] == "EntryNotFound"


def test_redirects_in_a_circle_end(hub_server: Any) -> None:
    hub_server.redirect_to = f"{hub_server.url}/org/name/resolve/main"
    with pytest.raises(WorldError, match="redirect"):
        fetch(f"{hub_server.url}/org/name/resolve/main/f", 0, 5)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://name.invalid/x"])
def test_hosts_that_do_not_answer(url: str) -> None:
    with pytest.raises(WorldError, match="a network that reaches the Hub"):
        fetch(url, 0, 1)


def test_the_endpoint_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setattr(constants, "ENDPOINT", "https://hub.example/")
    assert endpoint(None) == "https://hub.example"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert endpoint(None) == "https://mirror.example"
    assert endpoint("http://127.0.0.1:8000/") == "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "address", ["mirror.example", "ftp://x", "http://", "http://[x", "http://x:99999", "file:///x"]
)
def test_an_endpoint_must_be_a_web_address(address: str) -> None:
    with pytest.raises(UsageError, match=r"HF_ENDPOINT: .*: an address that starts with http"):
        endpoint(address)


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="huggingface_hub: not installed: pip install") as caught:
        fetch("http://127.0.0.1:9/", 0, 1)
    assert caught.value.code == 3


def test_an_environment_that_the_package_cannot_read() -> None:
    code = "from tonnage.seams.transfer import fetch; fetch('http://127.0.0.1:9/', 0, 1)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HF_HUB_DOWNLOAD_TIMEOUT": "soon"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, text=True)
    assert done.stderr.splitlines()[-1].startswith("tonnage.errors.UsageError: environment of huggingface_hub: ")


def test_an_old_package_says_how_to_renew_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import utils

    monkeypatch.setattr(utils, "get_session", object)  # requests' session had no stream()
    with pytest.raises(MissingExtraError, match=r"huggingface_hub: \d.*: pip install 'huggingface_hub>=1\.0'"):
        fetch("http://127.0.0.1:9/", 0, 1)
