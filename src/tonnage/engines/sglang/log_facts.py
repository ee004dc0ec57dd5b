"""The lines of SGLang's start-up log that carry memory figures, 0.4 to 0.5; every GB there is 2^30 bytes."""

from __future__ import annotations

from tonnage.memory.log_scan import DEVICE_NAME, NUMBER, OUT_OF_MEMORY, WHOLE, Dialect, Fact, compiled

_GB = rf"(-?{NUMBER})GB"
_GRAPH = r"apture([\w-]*?)(?:cuda|CUDA|hip|HIP|npu|NPU|xpu|XPU)graph"

FACTS = (
    Fact("arguments", "server_args=", r"server_args=(.*)", is_long=True),
    Fact("init", "nittorchdistributedends", r"nittorchdistributedends\.(?:elapsed=[\d.]+s,)?memusage=" + _GB),
    Fact("load_begin", "oadweightbegin", r"oadweightbegin\.availmem=" + _GB),
    Fact("load_end", "oadweightend", r"oadweightend\..*?availmem=" + _GB + r"(?:,memusage=" + _GB + r")?"),
    Fact("class", "oadweightend", r"oadweightend\..*?type=(\w+)"),
    Fact("dtype", "oadweightend", r"oadweightend\..*?dtype=torch\.(\w+)"),
    Fact("quantization", "oadweightend", r"oadweightend\..*?quant=(\w+)"),
    Fact(
        "pool",
        "KVCacheisallocated",
        rf"KVCacheisallocated\.(?:[^#]*?#tokens:{WHOLE},)?"
        r"[^#]*?(?:Ksize:" + _GB + r",Vsize:" + _GB + r"|KVsize:" + _GB + r")",
    ),
    Fact("pool_dtype", "KVCacheisallocated", r"KVCacheisallocated\..*?dtype:torch\.(\w+)"),
    Fact("pool_dtype", "singKVcachedtype", r"singKVcachedtype:torch\.(\w+)"),
    Fact("pools_sum", "SWAKVPoolmemusage", r"SWAKVPoolmemusage:" + _GB + r",swasize:\d+,fullsize:" + WHOLE),
    Fact(
        "states",
        "MambaCacheisallocated",
        r"MambaCacheisallocated\.max_mamba_cache_size:" + WHOLE + r",conv_statesize:" + _GB + r",ssm_statesize:" + _GB
        + r"(?:,?intermediate_ssm_state_cachesize:" + _GB + r")?"
        + r"(?:,?intermediate_conv_window_cachesize:" + _GB + r")?",
    ),
    Fact("pool_end", "emorypoolend", r"emorypoolend\.availmem=" + _GB),
    Fact("graph_begin", "graphbegin", _GRAPH + r"begin\..*?availmem=" + _GB),
    Fact("graph_end", "graphend", _GRAPH + r"end\.(?:.*?(?<=[.,])memusage=" + _GB + r")?.*?availmem=" + _GB),
    Fact("tokens", "max_total_num_tokens=", r"max_total_num_tokens=" + WHOLE),
    Fact("requests", "max_total_num_tokens=", r"max_running_requests=" + WHOLE),
    Fact("length", "max_total_num_tokens=", r"context_len=" + WHOLE),
    Fact("chunk", "max_total_num_tokens=", r"chunked_prefill_size=" + WHOLE),
    Fact("version", "glang", r"(?i)sglang(?: version)?(?:[ :=v]+|==)(\d+\.\d+\.\d+[\w.+]*)", is_spaced=True),
    DEVICE_NAME,
    Fact("started", "erverisfiredup", r"erverisfiredup"),
    Fact("refused", "eavenoGPUmemoryfortheKVcache", r"eavenoGPUmemoryfortheKVcache"),
    Fact("refused", "otenoughmemory", r"otenoughmemory\.Pleasetrytoincrease"),
    OUT_OF_MEMORY,
)  # fmt: skip
HINTS = (
    "GB", "server_args", "max_total_num_tokens", "KV cache dtype", "fired up", "enough memory", "no GPU memory",
    "out of memory", "glang", "device_name",
)  # fmt: skip
_HEAD = r"\[\d{4}-\d\d-\d\d[ T]|(?:INFO|WARNING|ERROR)\b|^(?:Traceback|Loading |Capturing |\[(?:Gloo|aiter)\])"
_SPEAKER = r"\[\d{4}-\d\d-\d\d[ T][\d:.,]+((?: [A-Z]+\d+)+)\]"


def speaker_of(text: str) -> str:
    """The rank behind a line, such as `DP1 TP1 EP1`; empty where the log names none."""
    found = compiled(_SPEAKER).search(text)
    return found[1].strip() if found else ""


DIALECT = Dialect(FACTS, HINTS, _HEAD, speaker_of)
