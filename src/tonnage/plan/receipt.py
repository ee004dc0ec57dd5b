"""An engine's start-up log beside the prediction: the answer of `receipt`."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.plan.answer import line_record
from tonnage.plan.calibration import OVERHEADS, REST, Calibration, make_key
from tonnage.plan.log_engine import read_log
from tonnage.plan.prediction import predict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from tonnage.figure import Line
    from tonnage.memory.receipt import Receipt
    from tonnage.plan.calibration import Key
    from tonnage.plan.prediction import Prediction

# What a reader must know of the prediction beside its lines.
_HEAD = ("model", "fleet", "layout", "engine", "engine_version", "fits", "reason")
_JOINT_NOTE = "the log gives runtime and communication as one figure, so the prediction shows them as one"


def receipt(
    log: str | Iterable[str],
    against: Mapping[str, Any] | None = None,
    is_saved: bool = False,
    folder: str | None = None,
) -> dict[str, Any]:
    """The contract's answer for one log, given as text or lines.

    `against` is an answer of `fit` or a question that completes what the log says. `is_saved` keeps the difference in
    `folder`, by default the user's data folder; a UsageError where there is nothing to compare. UnreadableError for a
    log without figures.
    """
    read = read_log(log)
    prediction = predict(read, against)
    answer = _record(read, prediction)
    if is_saved:
        start = compare(read, prediction)
        _save(start, folder)
        answer["notes"].append(_kept_note(start.key))
    return answer


def _kept_note(key: Key) -> str:
    return f"kept for later answers about {key.engine} {key.version}, {key.card} and models of family {key.family}"


def compare(read: Receipt, prediction: Prediction) -> Calibration:
    """Measured minus predicted, as a calibration keeps it. UsageError where prediction or key are missing."""
    answer = prediction.answer
    if answer is None:
        raise UsageError("calibration", "no prediction", "a log, or --against, that names model and card")
    told, measured = prediction.sizes(), _sizes(read.lines)
    joined = _joined(told, measured)
    if read.cuda_graph_estimate_bytes is not None:
        measured["cuda_graphs"] = read.cuda_graph_estimate_bytes  # the estimate, not the graphs, made the cache smaller
    names = [name for name in OVERHEADS if name in measured and name in joined]
    differences = {str(name): measured[name] - joined[name] for name in names}
    if not differences:
        differences = _rest(read, prediction, measured)
    weights, expected = measured.get("weights"), told.get("weights")
    ratio = round(weights / expected, 6) if weights and expected else None
    return Calibration(_key(read, answer), differences, ratio)


def _record(read: Receipt, prediction: Prediction) -> dict[str, Any]:
    measured, told = _sizes(read.lines), prediction.sizes()
    joined = _joined(told, measured)
    predicted = None
    if prediction.answer is not None:
        lines = [{"name": name, "bytes": size} for name, size in joined.items()]
        head = {name: prediction.answer[name] for name in _HEAD if name in prediction.answer}
        predicted = head | {"lines": lines, "budget_bytes": prediction.rank.get("budget_bytes")} | prediction.counts()
    notes = [*read.notes, *prediction.notes, *([_JOINT_NOTE] if joined != told else [])]
    return (
        {"engine": read.engine, "engine_version": read.engine_version, "outcome": read.outcome, "refusal": read.refusal}
        | {
            "lines": [line_record(line) for line in read.lines],
            "ranks": [_rank(read, i) for i in range(len(read.ranks))],
        }
        | _counts(read)
        | {"settings": read.settings.record(), "predicted": predicted}
        | {"differences": {name: measured[name] - joined[name] for name in measured if name in joined}, "notes": notes}
    )


def _counts(read: Receipt) -> dict[str, Any]:
    names = (
        "card_total_bytes", "budget_bytes", "kv_cache_tokens", "max_concurrency_x", "kv_needed_bytes",
        "est_max_model_len", "max_model_len", "num_blocks", "block_size", "cuda_graph_estimate_bytes",
    )  # fmt: skip
    return {name: getattr(read, name) for name in names}


def _rank(read: Receipt, index: int) -> dict[str, Any]:
    rank = read.ranks[index]
    return {
        "rank": index,
        "name": rank.name,
        "card_bytes": rank.card_total_bytes,
        "lines": [line_record(line) for line in rank.lines],
    }


def _sizes(lines: Iterable[Line]) -> dict[str, int]:
    return {str(line.name): line.bytes for line in lines}


def _joined(told: Mapping[str, int], measured: Mapping[str, int]) -> dict[str, int]:
    """The prediction with communication counted into the context, where the log gives only their sum."""
    joined = dict(told)
    if "context" in measured and "communication" not in measured and joined.get("communication"):
        joined["context"] = joined.get("context", 0) + joined.pop("communication")
    return joined


def _rest(read: Receipt, prediction: Prediction, measured: Mapping[str, int]) -> dict[str, int]:
    """The difference of all overheads inside the budget, from what is left beside weights and cache.

    Both sides are a budget less two lines, so graphs are in it exactly where the engine counts them.
    """
    told, budget = prediction.sizes(), prediction.rank.get("budget_bytes")
    own = read.budget_bytes or budget
    needed = ("weights", "kv_cache")
    if own is None or budget is None or any(name not in measured or name not in told for name in needed):
        return {}
    left = own - sum(measured[name] for name in needed)
    return {REST: left - (budget - sum(told[name] for name in needed))}


def _key(read: Receipt, answer: Mapping[str, Any]) -> Key:
    card = (answer.get("fleet") or {}).get("accelerator")
    family = (answer.get("model") or {}).get("family")
    version = read.engine_version or answer.get("engine_version")
    if not card or not family or not version:
        raise UsageError("calibration", "engine version, card or family unknown", "an answer or a question with them")
    return make_key(read.engine, version, card, family)


def _save(start: Calibration, folder: str | None) -> None:
    from tonnage.plan.calibration import save_calibration
    from tonnage.seams.data_folder import calibration_path

    if not start.differences and start.weights_ratio is None:
        raise UsageError("calibration", "nothing to compare", "a log with weights, cache or overheads")
    save_calibration(calibration_path(folder), start)
