"""The answer of `fit` on one screen: the verdict in words, the picture, the numbers that decide, what to do next."""

from __future__ import annotations

from tonnage.ui.views.advice import advice_rows
from tonnage.ui.views.ranks import group_ranks, picture_rows
from tonnage.ui.views.screen import BLANK, Span, label_rows, wrap_row
from tonnage.ui.views.subject import engine_words, fleet_words, model_words, setup_words
from tonnage.units import render_bytes, render_count, render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tonnage.ui.views.screen import Row

    Fact = tuple[str, str]

SCREEN_ROWS = 23  # of 24, one is the shell's
WHOLE_TOKENS_BELOW = 10  # B a token; above, a decimal says nothing


def fit_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """The whole answer in at most a screen of 80 x 24; narrower screens get more lines."""
    blocks = [_head_rows(answer, width), picture_rows(answer, width)]
    facts = fact_list(answer)
    column = _column(facts, width)
    blocks.append([row for label, text in facts for row in label_rows(label, [text], column, width)])
    taken = sum(len(block) + 1 for block in blocks if block)
    blocks.append(advice_rows(answer, column, width, SCREEN_ROWS - taken))
    return _spaced(blocks)


def sentence(answer: Mapping[str, Any]) -> str:
    """The verdict in one sentence."""
    model, fleet, reason = model_words(answer.get("model")), fleet_words(answer.get("fleet")), answer.get("reason")
    if answer["fits"]:
        return f"{model} fits on {fleet}: {setup_words(answer)}."
    if answer["verdict"] == "layout-invalid":
        return f"{model} cannot be split so over {fleet}: {reason}."
    if answer["verdict"] == "unsupported":
        return f"{engine_words(answer)} cannot run {model} on {fleet}: {reason}."
    return f"{model} does not fit on {fleet}: {reason}."


def fact_list(answer: Mapping[str, Any]) -> list[Fact]:
    """Label and text of each number that decides; those that could not be computed are left out."""
    facts = [] if answer["fits"] else [("tried", setup_words(answer))]
    if (answer.get("kv_cache_bytes_per_rank") or 0) > 0:
        facts += _cache_facts(answer)
    facts += _host_facts(answer)
    peak = answer.get("load_peak_bytes")
    return [*facts, ("loading", f"peak {render_gib(peak)} a card")] if peak else facts


def _head_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    text, room = sentence(answer), _room_words(answer)
    if not answer["fits"]:
        return wrap_row(text, width, "bad")
    if room and len(text) + len(room) + 2 <= width:
        return [(Span(text, "good"), Span(room.rjust(width - len(text))))]
    return [*wrap_row(text, width, "good"), *(wrap_row(room, width) if room else [])]


def _room_words(answer: Mapping[str, Any]) -> str:
    """The room on the fullest card, which is named where the cards differ."""
    ranks = answer.get("ranks") or ()
    if not ranks:
        return ""
    # The rank that decides goes first among equally full ones.
    fullest = min(ranks, key=lambda rank: (rank["free_bytes"], rank["rank"] != answer.get("busiest_rank")))
    room = f"room {render_gib(fullest['free_bytes'])}"
    if len(ranks) == 1:
        return room
    is_named = len(group_ranks(ranks)) > 1
    return f"{room} on the fullest card" + (f", rank {fullest['rank']}" if is_named else "")


def _cache_facts(answer: Mapping[str, Any]) -> list[Fact]:
    facts: list[Fact] = []
    if answer.get("max_context"):
        facts.append(("context", f"up to {render_count(answer['max_context'])} tokens for one request"))
    length = (answer.get("serving") or {}).get("max_model_len")
    if answer.get("max_concurrency_x") is not None:
        label = f"at {render_count(length)}" if length else "at once"
        facts.append((label, f"{_times_words(answer)}  ({_cost_words(answer)})"))
    facts.append(("cache", _pool_words(answer)))
    return facts


def _times_words(answer: Mapping[str, Any]) -> str:
    """Requests at once over all replicas, and on one where there are several."""
    one = answer["max_concurrency_x"]
    total = answer.get("concurrency_all_replicas") or one
    replicas = (answer.get("layout") or {}).get("dp") or 1
    each = f", {one:,.1f} on each of {replicas} replicas" if replicas > 1 else ""
    return f"{total:,.1f} requests at once{each}"


def _host_facts(answer: Mapping[str, Any]) -> list[Fact]:
    """What lives below the cards: weights in host memory, and on disk what the host cannot hold."""
    most = max((rank.get("host_bytes") or 0 for rank in answer.get("ranks") or ()), default=0)
    tiers = answer.get("tiers") or {}
    if not most:
        return []
    memory = tiers.get("host_memory_bytes")
    words = f"{render_bytes(most)} of each card's weights" + (f", a node has {render_gib(memory)}" if memory else "")
    disk = tiers.get("disk_bytes")
    return [("host", words), *([("disk", f"{render_gib(disk)} that the host cannot hold")] if disk else [])]


def _cost_words(answer: Mapping[str, Any]) -> str:
    token, state = answer.get("kv_bytes_per_token_per_rank"), answer.get("state_bytes_per_request_per_rank")
    words = [f"{_token_words(token)} a token"] if token else []
    words += [f"{render_bytes(state)} a request"] if state else []
    return " + ".join(words) or "no cache that grows"


def _token_words(size: float) -> str:
    return f"{size:,.0f} B" if size >= WHOLE_TOKENS_BELOW else f"{size:.2f} B"


def _pool_words(answer: Mapping[str, Any]) -> str:
    pool, tokens, needed = (answer.get(k) for k in ("kv_cache_bytes_per_rank", "kv_cache_tokens", "kv_needed_bytes"))
    words = render_gib(pool or 0) + " a rank"
    words += f", {render_count(tokens)} tokens" if tokens else ""
    return words + (f"; one request needs {render_gib(needed, 2)}" if needed else "")


def _column(facts: list[Fact], width: int) -> int:
    labels = [label for label, _ in facts] + ["because"]
    return min(max(len(label) for label in labels) + 4, width // 2)


def _spaced(blocks: list[list[Row]]) -> list[Row]:
    """Blocks with a blank line between each two."""
    rows: list[Row] = []
    for block in blocks:
        rows += [BLANK, *block] if rows and block else block
    return rows
