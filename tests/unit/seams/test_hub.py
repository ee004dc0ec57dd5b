"""The Hub's client against a server that speaks its protocol."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from tonnage.errors import TonnageError, UnreadableError, UsageError, WorldError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.read import read_source
from tonnage.seams.fakes import FakePlaces
from tonnage.seams.hub import Hub, open_hub
from tonnage.seams.store import Place

COMMIT = "c0ffee" * 6 + "c0ff"
CONFIG = b'{"model_type": "llama"}'


def weights(name: str, data_bytes: int) -> bytes:
    """A safetensors file of one vector of bytes."""
    header = json.dumps({name: {"dtype": "U8", "shape": [data_bytes], "data_offsets": [0, data_bytes]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(data_bytes)


def open_at(server: Any, revision: str | None = None) -> Hub:
    return open_hub("org/name", revision, server.url)


def test_files_are_listed_with_their_sizes(hub_server: Any) -> None:
    hub_server.files = {"config.json": CONFIG, "b.safetensors": bytes(100)}
    hub = open_at(hub_server)
    assert hub.names() == ("b.safetensors", "config.json")
    assert (hub.size("config.json"), hub.size("b.safetensors")) == (len(CONFIG), 100)
    assert hub.origin == f"hf:org/name@{COMMIT}"
    assert len(hub_server.requests) == 1


def test_ranges_are_read_at_the_commit_that_was_listed(hub_server: Any) -> None:
    hub_server.files = {"f.safetensors": bytes(range(100))}
    hub = open_at(hub_server, "v1.0")
    assert hub.read("f.safetensors", 10, 5) == bytes(range(10, 15))
    assert hub.read("f.safetensors", 95, 50) == bytes(range(95, 100))
    assert hub.read("f.safetensors", 100, 5) == b""
    assert [(path, span) for path, span, _ in hub_server.requests[1:]] == [
        (f"/org/name/resolve/{COMMIT}/f.safetensors", "bytes=10-14"),
        (f"/org/name/resolve/{COMMIT}/f.safetensors", "bytes=95-99"),
    ]


def test_a_revision_with_slashes_is_one_path_element(hub_server: Any) -> None:
    open_at(hub_server, "refs/pr/1")
    assert hub_server.requests[0][0] == "/api/models/org/name/revision/refs%2Fpr%2F1?blobs=true"


def test_sizes_that_the_listing_lacks_are_asked_for(hub_server: Any) -> None:
    hub_server.files, hub_server.has_sizes = {"f.gguf": bytes(77)}, False
    hub = open_at(hub_server)
    assert hub.size("f.gguf") == 77
    assert hub_server.requests[1][1] == "bytes=0-0"


def test_the_token_is_sent_to_the_hub_and_not_to_where_it_redirects(hub_server: Any, other_server: Any) -> None:
    hub_server.files = other_server.files = {"f.safetensors": bytes(range(100))}
    hub_server.redirect_to = other_server.url
    assert open_at(hub_server).read("f.safetensors", 10, 5) == bytes(range(10, 15))
    assert [token for _, _, token in hub_server.requests] == ["Bearer hf_secret"] * 2
    assert other_server.requests == [("/cdn/f.safetensors", "bytes=10-14", None)]


@pytest.mark.parametrize(
    ("status", "code", "kind", "message"),
    [
        (401, None, UsageError, r"hf:org/name@main: not found \(HTTP 401\): an existing repository"),
        (401, "RepoNotFound", UsageError, "not found"),
        (404, None, UsageError, r"not found \(HTTP 404\)"),
        (403, None, UsageError, "access is restricted: a token"),
        (401, "GatedRepo", UsageError, "access is restricted"),
        (403, "GatedRepo", UsageError, "let in to org/name"),
        (404, "RevisionNotFound", UsageError, "no such revision: a branch, tag or commit of org/name"),
        (404, "EntryNotFound", UnreadableError, "no such file"),
        (416, None, UnreadableError, "shorter than listed"),
        (429, None, WorldError, "HTTP 429: an answer of the Hub; try again later"),
        (500, None, WorldError, "HTTP 500"),
        (503, None, WorldError, "HTTP 503"),
        (204, None, WorldError, "a reply of 0 bytes|HTTP 204"),
    ],
)
def test_refusals_of_the_hub(
    hub_server: Any, status: int, code: str | None, kind: type[TonnageError], message: str
) -> None:
    hub_server.status, hub_server.code = status, code
    with pytest.raises(kind, match=message) as caught:
        open_at(hub_server)
    assert "\n" not in caught.value.line
    assert "hf:org/name" in caught.value.line
    assert "hf_secret" not in caught.value.line


def test_a_repository_or_revision_that_is_not_there(hub_server: Any) -> None:
    with pytest.raises(UsageError, match="hf:org/other@main"):
        open_hub("org/other", None, hub_server.url)
    with pytest.raises(UsageError, match="hf:org/name@nope: no such revision"):
        open_at(hub_server, "nope")


def test_a_file_that_is_not_there(hub_server: Any) -> None:
    hub_server.files = {"config.json": CONFIG}
    hub = open_at(hub_server)
    with pytest.raises(UnreadableError, match=r"no file 'x\.gguf': one of config\.json"):
        hub.size("x.gguf")
    del hub_server.files["config.json"]
    with pytest.raises(UnreadableError, match="no such file"):
        hub.read("config.json", 0, 5)


def test_a_server_that_ignores_ranges_is_cut_off(hub_server: Any) -> None:
    # 10 GB are announced; the reader must stop at what it asked for
    hub_server.files = {"f.safetensors": bytes(range(100))}
    hub = open_at(hub_server)
    hub_server.ranges, hub_server.endless = "ignore", True
    tracemalloc.start()
    assert hub.read("f.safetensors", 10, 5) == bytes(range(10, 15))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 10**6
    assert hub_server.sent_bytes < 100 * 10**6  # what the sockets between us hold


def test_a_server_that_ignores_ranges_is_not_read_up_to_a_far_start(hub_server: Any) -> None:
    hub_server.files = {"f.safetensors": bytes(3 * 2**20)}
    hub = open_at(hub_server)
    hub_server.ranges = "ignore"
    assert hub.read("f.safetensors", 2**20, 5) == bytes(5)
    with pytest.raises(WorldError, match="sends from byte 0: a server that sends ranges"):
        hub.read("f.safetensors", 2 * 2**20, 5)


@pytest.mark.parametrize(("ranges", "message"), [("wrong", "sends from byte 17"), ("silent", "content-range ''")])
def test_another_range_than_asked_is_refused(hub_server: Any, ranges: str, message: str) -> None:
    hub_server.files = {"f.safetensors": bytes(100)}
    hub = open_at(hub_server)
    hub_server.ranges = ranges
    with pytest.raises(WorldError, match=message):
        hub.read("f.safetensors", 10, 5)


def test_compressed_replies_are_refused(hub_server: Any) -> None:
    hub_server.files = {"f.safetensors": bytes(100)}
    hub = open_at(hub_server)
    hub_server.encoding = "gzip"
    with pytest.raises(WorldError, match="content-encoding gzip"):
        hub.read("f.safetensors", 10, 5)


def test_a_truncated_reply_is_refused(hub_server: Any) -> None:
    hub_server.files = {"f.safetensors": bytes(100)}
    hub = open_at(hub_server)
    hub_server.cut = 20
    with pytest.raises(WorldError, match=f"/org/name/resolve/{COMMIT}/f"):
        hub.read("f.safetensors", 0, 50)


def test_a_file_that_shrank_is_refused(hub_server: Any) -> None:
    hub_server.files = {"f.safetensors": bytes(100)}
    hub = open_at(hub_server)
    hub_server.files = {"f.safetensors": bytes(30)}
    with pytest.raises(WorldError, match="10 bytes at 20: 50 bytes"):
        hub.read("f.safetensors", 20, 50)
    with pytest.raises(UnreadableError, match="shorter than listed"):
        hub.read("f.safetensors", 40, 50)


@pytest.mark.parametrize(
    "info",
    [b"", b"<html>", b"[]", b"{}", b'{"siblings": [1]}', b'{"siblings": {}, "sha": [', b'{"siblings": [{"size": 1}]}',
     b"\xff", b"[" * 100_000],
)  # fmt: skip
def test_a_description_that_cannot_be_read(hub_server: Any, info: bytes) -> None:
    hub_server.info = info
    with pytest.raises(WorldError, match="no model description"):
        open_at(hub_server)


def test_odd_sizes_and_commits_of_a_description_are_not_trusted(hub_server: Any) -> None:
    rows = [{"rfilename": "a", "size": -1}, {"rfilename": "b", "size": "7"}, {"rfilename": "c", "size": True}]
    hub_server.info = json.dumps({"siblings": rows, "sha": 7}).encode()
    hub = open_at(hub_server)
    assert hub.sizes == {"a": None, "b": None, "c": None}
    assert hub.revision == "main"


def test_nobody_listens() -> None:
    with pytest.raises(WorldError, match=r"127\.0\.0\.1:9"):
        open_hub("org/name", None, "http://127.0.0.1:9")


def test_a_slow_server_is_given_up(hub_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tonnage.seams import transfer

    hub_server.files = {"f.safetensors": bytes(10**6)}
    hub = open_at(hub_server)
    monkeypatch.setattr(transfer, "DEADLINE_S", -1.0)
    with pytest.raises(WorldError, match="of 1000000 bytes in -1 s"):
        hub.read("f.safetensors", 0, 10**6)


def test_a_server_that_drips_is_given_up(hub_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tonnage.seams import transfer

    hub_server.files = {"f.safetensors": bytes(10**6)}
    hub = open_at(hub_server)
    monkeypatch.setattr(transfer, "DEADLINE_S", -1.0)
    hub_server.cut, hub_server.is_stalled = 3, True
    with pytest.raises(WorldError, match="3 of 1000000 bytes in -1 s"):
        hub.read("f.safetensors", 0, 10**6)


def test_offline_mode_is_respected(hub_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(WorldError, match="offline mode is enabled"):
        open_at(hub_server)


def test_each_keeps_the_order_and_raises_the_first_failure(hub_server: Any) -> None:
    hub_server.files = {f"{i}.safetensors": bytes([i]) for i in range(30)}
    hub = open_at(hub_server)
    assert hub.each(lambda name: hub.read(name, 0, 1)[0], [f"{i}.safetensors" for i in range(30)]) == list(range(30))
    with pytest.raises(UnreadableError, match="no file 'x'"):
        hub.each(hub.size, ["0.safetensors", "x", "y"])


def test_a_model_is_read_with_one_request_per_file(hub_server: Any) -> None:
    one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    index = {"metadata": {"total_size": 10**6 + 5}, "weight_map": {"a": one, "b": two}}
    hub_server.files = {
        "config.json": CONFIG,
        "model.safetensors.index.json": json.dumps(index).encode(),
        one: weights("a", 10**6),
        two: weights("b", 5),
        "pytorch_model.bin": bytes(50),
    }
    source = read_source("hf:org/name", FakePlaces({"hf:org/name": Place(open_at(hub_server))}))
    assert source.config == {"model_type": "llama"}
    assert source.entries == (TensorEntry("a", "U8", (10**6,), 10**6), TensorEntry("b", "U8", (5,), 5))
    assert source.origin == f"hf:org/name@{COMMIT}"
    assert source.notes == ()
    assert len(hub_server.requests) == 5  # listing, configuration, index, two headers
