"""Finding the accelerator a person or a log means: names with remarks, partitions, pools, sizes, the host itself."""

from __future__ import annotations

from tonnage.catalog.accelerator import resize, take_partition
from tonnage.catalog.names import is_assumed, refuse_name
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.catalog.load import Catalog

HOST_ID = "cpu"
_GIB = 2**30
_MODES = ("spx", "dpx", "qpx", "cpx")
_POOL_DIGITS = len("10000")  # of a pool in GiB, far above any machine


def find_accelerator(catalog: Catalog, text: str, host_memory_bytes: int | None = None) -> Accelerator:
    """The accelerator a name means; case, spaces, vendor words and remarks in parentheses do not matter.

    Also accepted: a partition behind a name (``A100 40GB MIG 1g.5gb``, ``MI300X CPX``), a pool size on unified memory
    (``Strix Halo (96 GiB pool)``), a plain size (``80GB card``), and ``CPU`` with ``host_memory_bytes`` as capacity.
    What had to be assumed stands in its ``assumptions``. Unknown and ambiguous names are a UsageError that lists the
    nearest.
    """
    found = _find_named(catalog, text) or _find_partition(catalog, text) or _find_size(catalog, text)
    if found is None:
        raise refuse_name(catalog.rows("accelerators").values(), text)
    if found.id == HOST_ID and host_memory_bytes is not None:
        return resize(found, host_memory_bytes, "measured")
    return found


def _find_named(catalog: Catalog, text: str) -> Accelerator | None:
    for candidate in _list_candidates(text):
        known = catalog.look_up(candidate)
        if known is not None:
            found = _with_pool(catalog.accelerator(known), text)
            row = catalog.row("accelerators", "id", known)
            if row is None or not is_assumed(row, candidate):
                return found
            return replace(found, assumptions=(f"{_split_remark(candidate)[0]} taken as {found.name}",))
    return None


def _list_candidates(text: str) -> Iterator[str]:
    # From the most to the least said: "A100 (40 GB)" must not fall back to "A100" first.
    bare, remark = _split_remark(text)
    yield text
    yield bare
    yield bare.partition(",")[0]
    yield remark
    yield remark.partition(",")[0]


def _split_remark(text: str) -> tuple[str, str]:
    before, _, rest = text.partition("(")
    remark, _, after = rest.partition(")")
    return f"{before.strip()} {after.strip()}".strip(), remark.strip()


def _with_pool(found: Accelerator, text: str) -> Accelerator:
    # The owner of a machine with unified memory sets how much of it the device may take; no catalogue can know.
    words = _split_remark(text)[1].lower().split()
    is_pool = words[1:] == ["gib", "pool"] and words[0].isdecimal() and len(words[0]) < _POOL_DIGITS
    is_pool = is_pool and int(words[0]) > 0
    return resize(found, int(words[0]) * _GIB, "assumed") if is_pool and found.is_unified_memory else found


def _find_partition(catalog: Catalog, text: str) -> Accelerator | None:
    words = _split_remark(text)[0].split()
    profile = words[-1].lower() if len(words) > 1 else ""
    if profile not in _MODES and "g." not in profile:
        return None
    name = " ".join(word for word in words[:-1] if word.lower() != "mig")
    for candidate in (*_list_sized(catalog, name, profile), name):
        whole = _find_named(catalog, candidate)
        if whole is not None:
            # SPX is the whole card.
            return whole if profile == _MODES[0] else take_partition(whole, profile)
    return None


def _list_sized(catalog: Catalog, name: str, profile: str) -> Iterator[str]:
    # A MIG profile names a memory slice, so it tells the 40 GB card from the 80 GB one where the name does not.
    for row in catalog.rows("accelerators").values():
        if profile in row.get("partitions", {}):
            yield f"{name} {row.get('memory_nominal_bytes', 0) // 10**9}GB"


def _find_size(catalog: Catalog, text: str) -> Accelerator | None:
    # Imported here: a name, the usual case, never needs it.
    from tonnage.catalog.anonymous import describe_size

    bare = _split_remark(text)[0]
    reported = f"{bare.partition('reporting')[2]} card"
    for candidate in (reported, bare, bare.partition(",")[0]):
        card = describe_size(candidate, catalog.rows("accelerators").values())
        if card is not None:
            return card
    return None
