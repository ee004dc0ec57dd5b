"""What can be asked: a model folder, one rank of a layout, and the options that change the plan."""

import re
from dataclasses import dataclass
from pathlib import Path

LAYOUT = re.compile(r"tp(?P<tp>\d+)(?:pp(?P<pp>\d+))?(?:dp(?P<dp>\d+))?(?P<ep>ep)?(?:r(?P<rank>\d+))?")


@dataclass(frozen=True, slots=True)
class Layout:
    """One rank of one parallel layout."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: bool = False
    rank: int = 0

    @classmethod
    def parse(cls, text: str) -> "Layout":
        """Read `tp8`, `tp8ep`, `tp4pp2r7`, `tp1dp8ep`."""
        found = LAYOUT.fullmatch(text)
        if found is None:
            raise SystemExit(f"error: layout: {text}: such as tp8, tp8ep or tp4pp2r7")
        tp, pp, dp, rank = (int(found[name] or default) for name, default in DEFAULTS.items())
        return cls(tp, pp, dp, found["ep"] is not None, rank)

    @property
    def world(self) -> int:
        """Number of ranks."""
        return self.tp * self.pp * self.dp


DEFAULTS = {"tp": 1, "pp": 1, "dp": 1, "rank": 0}


@dataclass(frozen=True, slots=True)
class Job:
    """One row to be made."""

    name: str
    folder: Path
    layout: Layout
    max_model_len: int
    kv_cache_dtype: str
    pool_bytes: int
    # Whether blocks of attention and state layers are made equal, as the engine does once a model is loaded.
    align: bool
    tensors: Path | None = None
