"""The lines of llama.cpp's start-up log that carry memory figures; MiB are 2^20 bytes, by device."""

from __future__ import annotations

from tonnage.memory.log_scan import NUMBER, WHOLE, Dialect, Fact

_MIB = rf"({NUMBER})MiB"
# Lazy, so that the kind of buffer is not taken for a part of the device's name.
_DEVICE = r"(?:^|[:|-])(RPC\[[^\]]*\]|[A-Za-z]\w*?(?:\(\))?)"
_ROW = rf"(?:\([^|=]*\))?[|:]{WHOLE}=\d+\+\(\d+={WHOLE}\+{WHOLE}\+{WHOLE}\)\+(-?\d{{1,20}})(?!\d)"

FACTS = (
    Fact("model", "oadedmetadata", r"llama_model_loader:loadedmetadatawith"),
    Fact("path", "loaded meta data", r" tensors from (.+?)(?: \(version|$)", is_spaced=True),
    Fact("draft", "oadingdraftmodel", r"oadingdraftmodel"),
    Fact("draft", "raftcontext", r"reating\w*draftcontext"),
    Fact("buffer", "buffersize=", _DEVICE + r"(model|KV|RS|compute|output)buffersize=" + _MIB),
    Fact("buffer", "load_tensors:", r"load_tensors" + _DEVICE + r"()buffersize=" + _MIB),
    Fact("cells", "cells,", r"size=[\d.]+MiB\((\d{1,18})cells,"),
    Fact("types", "K(", r"MiB,K\((\w+)\):[\d.]+MiB"),
    Fact("context", "n_ctx=", r"llama_\w+:n_ctx=" + WHOLE),
    Fact("sequence", "seq=", r"llama_\w+:n_ctx_(?:per_)?seq=" + WHOLE),
    Fact("sequences", "n_seq_max=", r"llama_\w+:n_seq_max=" + WHOLE),
    Fact("batch", "n_batch=", r"llama_\w+:n_batch=" + WHOLE),
    Fact("breakdown", ")+", _DEVICE + _ROW),
    Fact("card", "using device", r"using device (\w+) \((.+?)\)(?: \([^)]*\))? - \d+ MiB free", is_spaced=True),
    Fact("card", "compute capability", r"Device (\d+): (.+?), compute capability", is_spaced=True),
    Fact("name", "general.name", r"general\.name +(?:str +)?= (.+)$", is_spaced=True),
    Fact("file_type", "type ", r"(?:print_info|llm_load_print_meta): (?:file|model f)type += (.+)$", is_spaced=True),
    Fact("version", "build", r"build:? ?(\d{3,6}) ?\(", is_spaced=True),
    Fact("started", "erverislistening", r"erverislistening"),
    Fact("started", "modelloaded", r"main:modelloaded"),
    Fact("started", "slotsareidle", r"slotsareidle"),
    Fact("refused", "outofmemory", r"allocfailed:outofmemory|allocatefailed:outofmemory"),
    Fact("refused", "failedtoallocate", r"failedtoallocate"),
    Fact("refused", "unabletoallocate", r"unabletoallocate"),
    Fact("refused", "rrorloadingmodel", r"rrorloadingmodel"),
)
HINTS = (
    "buffer size", "loaded meta data", "draft", "cells", "llama_", "memory_breakdown", "using device",
    "compute capability", "general.name", "type ", "build", "listening", "model loaded", "are idle", "allocate",
    "out of memory", "error loading model",
)  # fmt: skip
# Its lines begin with the name of a function, often behind a time.
_HEAD = r"^(?:\S+ ){0,8}?\|? ?\w+:|^\W*\d+\.\d\d\.\d{3}\.\d{3}|^ *Device \d"


def speaker_of(_: str) -> str:
    """Nothing: one process speaks for all devices."""
    return ""


DIALECT = Dialect(FACTS, HINTS, _HEAD, speaker_of)
