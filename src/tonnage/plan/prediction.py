"""The prediction a receipt is laid over: from an answer that is given, or from the settings the log names."""

from __future__ import annotations

from tonnage.errors import TonnageError
from tonnage.plan.against import check_answer
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tonnage.memory.receipt import Receipt

_SAME = (
    "kv_cache_tokens", "max_concurrency_x", "kv_needed_bytes", "max_context", "weights_bytes_per_rank",
    "kv_cache_bytes_per_rank", "kv_bytes_per_token_per_rank",
)  # fmt: skip
_NEEDED = (("model", "model"), ("gpu", "card"))
_AT_LOADING = ("fp8", "bitsandbytes")  # formats the engines make themselves out of 16-bit weights
_CACHED = "models--"  # folders of the Hub's cache: models--ORG--NAME/snapshots/COMMIT


@value
class Prediction:
    """An answer of `fit` for the log's start; None with a note where there cannot be one."""

    answer: Mapping[str, Any] | None
    notes: tuple[str, ...] = ()

    @property
    def rank(self) -> Mapping[str, Any]:
        """The busiest rank of the answer; empty where the answer has none."""
        if self.answer is None:
            return {}
        ranks = {rank["rank"]: rank for rank in self.answer.get("ranks") or ()}
        found: Mapping[str, Any] = ranks.get(self.answer.get("busiest_rank"), {})
        return found

    def sizes(self) -> dict[str, int]:
        """Bytes of the busiest rank by line name."""
        lines = (self.answer or {}).get("lines") or self.rank.get("lines") or ()
        sizes: dict[str, int] = {}
        for line in lines:
            sizes[line["name"]] = sizes.get(line["name"], 0) + line["bytes"]
        return sizes

    def counts(self) -> dict[str, Any]:
        """Tokens, concurrency and sizes, named as in the contract."""
        return {name: self.answer[name] for name in _SAME if self.answer is not None and name in self.answer}


def predict(receipt: Receipt, against: Mapping[str, Any] | None) -> Prediction:
    """The prediction for the start in `receipt`.

    `against` is an answer of `fit`, taken as it is, or a question whose fields go before what the log says. Errors of
    a stated question are raised, UnreadableError for no answer of ours; a log alone that names too little gives a note.
    """
    if against is not None and ("ranks" in against or "lines" in against):
        check_answer(against)
        return Prediction(against)
    question = _question(receipt) | {name: value for name, value in (against or {}).items() if value is not None}
    missing = [word for name, word in _NEEDED if not question.get(name)]
    if missing:
        return Prediction(None, (f"no prediction: the log names no {' and no '.join(missing)}; say it with --against",))
    try:
        return Prediction(_answer(question))
    except TonnageError as error:
        if against is not None:
            raise
        return Prediction(None, (f"no prediction: {error.line}; say what is meant with --against",))


def _question(receipt: Receipt) -> dict[str, Any]:
    question = receipt.settings.question()
    if "model" in question:
        question["model"] = model_name(question["model"])
    if question.get("quantization") not in _AT_LOADING:
        question.pop("quantization", None)  # the checkpoint's own, which the model's name stands for
    version = {} if receipt.engine_version is None else {"engine_version": receipt.engine_version}
    return question | {"engine": receipt.engine} | version


def model_name(text: str) -> str:
    """The model behind a path of another machine: the id in a folder of the Hub's cache, else the folder's name.

    Paths that exist here and other names stay as they are.
    """
    import os.path

    for part in text.split("/"):
        if part.startswith(_CACHED):
            return part.removeprefix(_CACHED).replace("--", "/", 1)
    is_foreign = text.startswith("/") and not os.path.exists(text)
    return text.rstrip("/").rpartition("/")[2] if is_foreign else text


def _answer(question: Mapping[str, Any]) -> dict[str, Any]:
    # Imported here: a receipt without a prediction needs no planner.
    from tonnage.plan.fit import answer_question
    from tonnage.plan.question import Question

    return answer_question(Question.from_record(question), with_remedies=False, is_calibrated=False)
