"""Groups of caches whose pages differ in size and lie side by side in a block (DeepSeek V4)."""

from __future__ import annotations

from tonnage.engines.vllm.kv_group import Group, split
from tonnage.units import ceil_div
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.engines.vllm.kv_page import Paged
    from tonnage.engines.vllm.kv_rules import KvRules

FIXED_SIZE = ("state", "ring")


def is_packed(pages: tuple[Paged, ...]) -> bool:
    """Whether the engine packs pages of different sizes instead of making them equal."""
    kinds = {page.spec.kind for page in pages}
    sizes = {page.page for page in pages}
    has_index = any(page.spec.is_index for page in pages)
    return len(sizes) > 1 and ("sliding_mla" in kinds or (has_index and len(kinds) > 1))


def packed_groups(pages: tuple[Paged, ...], rules: KvRules) -> list[Group]:
    """The groups of this release; the cache that grows comes first before 0.29."""
    buckets = _buckets(pages)
    if rules.packs_buckets:
        return _newest(buckets)
    growing = [bucket for bucket in buckets if bucket.grows]
    windows = [bucket for bucket in buckets if not bucket.grows]
    return _tuples(growing[0], windows, rules) if growing else windows


def _buckets(pages: tuple[Paged, ...]) -> list[Group]:
    found: dict[object, list[Paged]] = {}
    for page in pages:
        found.setdefault(page.family, []).append(page)
    return [Group(tuple(members)) for members in found.values()]


def _tuples(growing: Group, windows: list[Group], rules: KvRules) -> list[Group]:
    """The compressed cache in one group, windows cut to about as many layers (releases before 0.29)."""
    padded = [_padded(window, growing) for window in windows] if rules.pads_windows else windows
    counts = [_model_most(group) for group in (growing, *padded)]
    size = nearest_size(counts, counts[0])
    groups = [growing]
    for window in padded:
        groups += split(window.members, ceil_div(_model_most(window), size))
    return groups


def _padded(window: Group, growing: Group) -> Group:
    """Window pages enlarged to the next page size of the compressed cache."""
    sizes = sorted({member.page for member in growing.members})
    return Group(
        tuple(
            replace(m, page=next((size for size in sizes if size >= m.page), m.page)) for m in window.members
        )
    )  # fmt: skip


def _newest(buckets: list[Group]) -> list[Group]:
    """Buckets with one layer of each page size per repeat are cut to a common number of repeats."""
    floor = max((_model_most(b) for b in buckets if _is_balanced(b) and _num_sizes(b) > 1), default=0)
    repeats = nearest_size([_model_most(b) for b in buckets if _is_balanced(b)], floor) if floor else None
    anchor = max((_widest(b, _fewest(b, repeats)) for b in buckets), default=0)
    groups: list[Group] = []
    for bucket in buckets:
        parts = _num_parts(bucket, repeats)
        if _is_state(bucket, repeats):
            held = max(anchor // bucket.members[0].page, 1)
            parts = max(parts, ceil_div(_model_layers(bucket), held))
        groups += split(bucket.members, parts)
    return groups


def _num_parts(bucket: Group, repeats: int | None) -> int:
    if repeats is None or not _is_balanced(bucket):
        return 1
    return ceil_div(_model_most(bucket), repeats)


def _fewest(bucket: Group, repeats: int | None) -> int:
    """Into how many groups a bucket can be cut at most: states one by one, the rest as the repeats say."""
    return _model_layers(bucket) if _is_state(bucket, repeats) else _num_parts(bucket, repeats)


def _is_state(bucket: Group, repeats: int | None) -> bool:
    kind = bucket.members[0].spec.kind
    return kind in FIXED_SIZE or (repeats is None and kind in ("sliding", "sliding_mla"))


def _widest(bucket: Group, parts: int) -> int:
    return sum(ceil_div(count, parts) * page for page, count in _sizes(bucket).items())


def _sizes(group: Group) -> dict[int, int]:
    counts: dict[int, int] = {}
    for member in group.members:
        counts[member.page] = counts.get(member.page, 0) + member.model_layers
    return counts


def _num_sizes(group: Group) -> int:
    return len(_sizes(group))


def _is_balanced(group: Group) -> bool:
    return len(set(_sizes(group).values())) == 1


def _model_most(group: Group) -> int:
    return max(_sizes(group).values())


def _model_layers(group: Group) -> int:
    return sum(_sizes(group).values())


def nearest_size(counts: list[int], least: int) -> int:
    """The group size of at least `least` that pads `counts` least; the larger of two equal ones."""
    sizes = range(max(1, least), max(counts) + 1) or range(least, least + 1)
    return min(sizes, key=lambda size: (sum(-count % size for count in counts), -size))


def block_bytes(groups: Sequence[Group], rules: KvRules) -> int:
    """Bytes one block takes from the pool, over all layers of the rank."""
    if rules.packing == "widest":
        return max(group.bytes for group in groups)
    if rules.packing == "tuples":
        return tuple_bytes(groups)
    slots: dict[int, int] = {}
    for group in groups:
        held = group.layers_by_page
        slots = {page: max(slots.get(page, 0), held.get(page, 0)) for page in {**slots, **held}}
    return sum(page * count for page, count in slots.items())


def tuple_bytes(groups: Sequence[Group]) -> int:
    """One layer of each page size of the growing cache, times the most such layer tuples of any group."""
    one = sum({member.page for member in groups[0].members})
    return one * max(group.most_layers() for group in groups)
