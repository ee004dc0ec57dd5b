"""The lines of vLLM's start-up log that carry memory figures, from 0.6 to 0.33; every GB there is 2^30 bytes."""

from __future__ import annotations

from tonnage.memory.log_scan import DEVICE_NAME, NUMBER, OUT_OF_MEMORY, WHOLE, Dialect, Fact, compiled

_GIB = rf"(-?{NUMBER})Gi?B"
_COUNT = r"([\d,]{0,18}\d)"

AMOUNTS = (
    Fact("weights", "oadingmodelweightstook", r"oadingmodelweightstook" + _GIB),
    Fact("weights", "odelloadingtook", r"odelloadingtook" + _GIB),
    Fact("weights_stated", "modelweightstake", r"modelweightstake" + _GIB),
    Fact("weights_stated", "GiBforweight", _GIB + r"forweight"),
    Fact("total", "total_gpu_memory", r"total_gpu_memory[(=]?" + _GIB),
    Fact("total", "Freememoryondevice", r"Freememoryondevice(?:cuda:\d+)?\([\d.]+/" + _GIB),
    Fact("budget", "gpu_memory_utilization(", r"gpu_memory_utilization\([\d.]+\)=" + _GIB),
    Fact("budget", "vLLMinstancecanuse", r"vLLMinstancecanuse" + _GIB),
    Fact("budget", "GPUmemoryutilization", r"esiredGPUmemoryutilization(?:is)?\([\d.]+," + _GIB),
    Fact("torch_peak", "peak_torch_memory=", r"peak_torch_memory=" + _GIB),
    Fact("non_torch", "non_torch_memory", r"non_torch_memory(?:takes|=)?" + _GIB),
    Fact("non_torch", "GiBfornon-torch", _GIB + r"fornon-torch"),
    Fact("consumed", "GiBforconsumedmemory", _GIB + r"forconsumedmemory"),
    Fact("activations", "PyTorchactivationpeakmemory", r"PyTorchactivationpeakmemory(?:takes)?" + _GIB),
    Fact("summary_peak", "GiBforpeakactivation", _GIB + r"forpeakactivation"),
    Fact("kv", "reservedforKVCacheis", r"reservedforKVCacheis" + _GIB),
    Fact("kv", "available_kv_cache_memory", r"available_kv_cache_memory=?" + _GIB),
    Fact("kv", "kv_cache_size=", r"kv_cache_size=" + _GIB),
    Fact("kv", "AvailableKVcachememory:", r"AvailableKVcachememory:" + _GIB),
    Fact("kv", "memoryforKVCacheasspecified", r"reserved" + _GIB + r"memoryforKVCacheasspecified"),
    Fact("kv", "GiBforKVcacheonnode", rf"xplicitlyset\(({NUMBER})/[\d.]+\)GiBforKVcache"),
    Fact("kv_in_use", "cachememoryinuseis", r"cachememoryinuseis" + _GIB),
    Fact("graphs", "raphcapturingfinishedin", r"raphcapturingfinishedin\d+secs?,took" + _GIB),
    Fact("graphs_used", "CUDAgraphpoolmemory:", r"CUDAgraphpoolmemory:" + _GIB + r"\(actual\)"),
    Fact("graphs_used", "raphmemory", _GIB + r"for(?:CUDAG|NPUg|XPUg)raphmemory"),
    Fact("graphs_estimate", "stimatedCUDAgraphmemory:", r"stimatedCUDAgraphmemory:" + _GIB),
)
NUMBERS = (
    Fact("tokens", "KVcachesize:", r"KVcachesize:" + _COUNT + r"tokens"),
    Fact("concurrency", "aximumconcurrencyfor", rf"tokensperrequest:({NUMBER})x"),
    Fact("length", "aximumconcurrencyfor", r"aximumconcurrencyfor" + _COUNT + r"tokens"),
    Fact("blocks", "blocks:", r"(?:#\w*[a-zA-Z]|GPU)blocks:" + _COUNT + r"(?:,#CPUblocks|$)"),
    Fact("block_size", "attentionblocksizeto", r"attentionblocksizeto" + _COUNT + r"tokens"),
    Fact("block_size", "kvcacheblocksizeto", r"kvcacheblocksizeto" + _COUNT),
    Fact("utilization", "gpu_memory_utilization", rf"gpu_memory_utilization[(=]?({NUMBER})"),
    Fact("utilization", "GPUmemoryutilization", rf"esiredGPUmemoryutilization(?:is)?\(({NUMBER}),"),
    Fact("batched_tokens", "max_num_batched_tokens=", r"max_num_batched_tokens=" + _COUNT),
)
REFUSALS = (
    Fact(
        "needed",
        "KVcacheisneeded",
        rf"maxseqlen\({WHOLE}\),\(?{_GIB}KVcacheisneeded,whichislargerthantheavailableKVcachememory\({_GIB}\)",
    ),
    Fact("estimate", "maximummodellengthis", r"maximummodellengthis" + WHOLE),
    Fact("too_long", "storedinKVcache", rf"maxseqlen\({WHOLE}\)islargerthan\D*storedinKVcache\({WHOLE}\)"),
    Fact("refused", "oavailablememoryforthecacheblocks", r"oavailablememoryforthecacheblocks"),
    Fact("refused", "lessthandesiredGPUmemory", r"onstartupislessthandesiredGPUmemoryutilization\([\d.]+,[\d.]+GiB\)"),
    OUT_OF_MEMORY,
    Fact("failed", "ngineCorefailedtostart", r"ngineCorefailedtostart"),
    Fact("failed", "ngineprocessfailedtostart", r"ngineprocessfailedtostart"),
)
EVENTS = (
    Fact("engine", "LLMengine", r"nitializingan?(?:V\d)?LLMengine(?:\(v?([\w.+-]+)\))?withconfig:(.*)", is_long=True),
    Fact("arguments", "args:", r"non-defaultargs:(.*)", is_long=True),
    Fact("server", "serverversion", r"vLLMAPIserverversion([\w.+-]*\d[\w.+-]*)"),
    Fact("version", " version ", r"[█▄▀] +version +v?(\d+\.\d+[\w.+-]*)", is_spaced=True),
    Fact("version", "vLLM Version", r"vLLM Version *: *(\d+\.\d+[\w.+-]*)", is_spaced=True),
    DEVICE_NAME,
    Fact("card", "GPU 0", r"GPU 0(?:-\d+)?: (?:NVIDIA |AMD )?(\w[\w .+-]*\w)", is_spaced=True),
    Fact("started", "initengine(profile", r"initengine\(profile"),
    Fact("started", "pplicationstartupcomplete", r"pplicationstartupcomplete"),
    Fact("started", "promptthroughput:", r"Avgpromptthroughput:"),
)
HINTS = (
    "GiB", "GB", "KV", "engine", "args", "version", "blocks", "block size", "oncurrency", "device_name", "GPU ",
    "Application startup", "max_num_batched_tokens", "max seq len", "cache blocks", "out of memory", "maximum model",
    "model length", "Version",
)  # fmt: skip
_HEAD = (
    r"(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|^\W*\[?\d{4}-\d\d-\d\d|\((?:EngineCore|Worker|Vllm|RayWorker|API|Api)"
    r"|^(?:Traceback|Process |Loading |Capturing )|vLLMAPIserver"
)
_SPEAKER = r"\((EngineCore\w*|Worker\w*|VllmWorker\w*|RayWorker\w*|A[Pp][Ii]Server\w*)(?: rank=(\d+))?(?: pid=(\d+))?"
_NUMBERED = r"_(?:DP|PP|TP|EP|DCP)?\d"


def speaker_of(text: str) -> str:
    """The worker behind a line, named by its rank, or by its process where the log gives no rank; empty for none.

    Workers of a cluster speak inside a line of their engine: the last name counts.
    """
    names = list(compiled(_SPEAKER).finditer(text))
    if not names:
        return ""
    name, rank, pid = names[-1].groups()
    if rank is not None:
        return f"rank {rank}"
    is_rank = compiled(_NUMBERED).search(name) or name.startswith(("EngineCore", "API"))
    return name if is_rank or pid is None else f"{name} {pid}"


DIALECT = Dialect(AMOUNTS + NUMBERS + REFUSALS + EVENTS, HINTS, _HEAD, speaker_of)
