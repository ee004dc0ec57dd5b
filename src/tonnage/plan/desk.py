"""A question made ready: the model's parts, the fleet, the engine's rules and the limits asked for."""

from __future__ import annotations

import os

from tonnage.engines.table import make_engine
from tonnage.errors import UsageError
from tonnage.layout.layout import Layout
from tonnage.memory.engine import Limits
from tonnage.plan.evaluate import Job, evaluate
from tonnage.plan.fleets import find_fleet
from tonnage.plan.models import find_model
from tonnage.seams.data_folder import calibration_path
from tonnage.units import GIB
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.catalog.fleet import Fleet
    from tonnage.figure import Line
    from tonnage.memory.engine import Engine
    from tonnage.plan.evaluate import Evaluation
    from tonnage.plan.models import Model
    from tonnage.plan.question import Question

    Adjust = Callable[[tuple[Line, ...]], tuple[Line, ...]]

# Two pages of text; without a stated context, a start with less is not called a fit.
SMALLEST_CONTEXT = 8192


@value
class Desk:
    """Everything a question needs, looked up once. `layout` is the one it states; None leaves the choice to us.

    `adjust` moves overheads by what earlier starts of the same engine, card and family have taught.
    """

    question: Question
    model: Model
    fleet: Fleet
    engine: Engine
    limits: Limits
    layout: Layout | None
    adjust: Adjust | None = None

    def job(self, layout: Layout, limits: Limits | None = None) -> Job:
        """The job of evaluating `layout` on this desk."""
        card = self.fleet.accelerator
        return Job(
            self.model.parts, self.engine, card, layout, limits or self.limits, card.capacity_bytes, self.adjust
        )  # fmt: skip

    def evaluate(self, layout: Layout) -> Evaluation:
        """Ledgers under `layout`, the context shortened to what fits when none was asked for."""
        found = evaluate(self.job(layout))
        if self.limits.max_model_len is not None or found.busiest.pool.fits:
            return found
        longest = found.busiest.pool.max_context
        if longest < min(SMALLEST_CONTEXT, found.serving.max_model_len):
            return found
        return evaluate(self.job(layout, replace(self.limits, max_model_len=longest)))

    def moved(self, fleet: Fleet) -> Desk:
        """The same question on other cards, their layout open."""
        engine = make_engine(self.question.engine, self.question.engine_version, fleet.accelerator)
        return replace(self, fleet=fleet, engine=engine, layout=None, adjust=None)


def open_desk(question: Question, is_calibrated: bool = True) -> Desk:
    """Look up model, fleet and engine. Raises UsageError or UnreadableError naming what is unknown.

    `is_calibrated` False leaves out what earlier starts have taught.
    """
    model = find_model(question.model, question.quantization, question.trust)
    fleet = find_fleet(question)
    engine = make_engine(question.engine, question.engine_version, fleet.accelerator)
    adjust = _learned(engine, fleet.accelerator.id, model.parts.arch.family) if is_calibrated else None
    layout = _stated_layout(question, fleet.num_cards)
    return Desk(question, model, fleet, engine, _limits(question), layout, adjust)


def _learned(engine: Engine, card: str, family: str) -> Adjust | None:
    path = calibration_path()
    if not os.path.exists(path):
        return None
    from tonnage.plan.calibration import apply_calibration, find_calibration, load_calibration, make_key

    record = find_calibration(load_calibration(path), make_key(engine.name, engine.version, card, family))
    return None if record is None else lambda lines: apply_calibration(lines, record)


def _limits(question: Question) -> Limits:
    if question.gpu_memory_utilization is not None and question.mem_fraction_static is not None:
        raise UsageError("memory fraction", "two given", "gpu_memory_utilization or mem_fraction_static, not both")
    return Limits(
        max_model_len=question.max_model_len,
        max_num_seqs=question.max_num_seqs,
        max_num_batched_tokens=question.max_num_batched_tokens,
        fraction=question.gpu_memory_utilization or question.mem_fraction_static,
        kv_dtype=question.kv_cache_dtype,
        block_size=question.block_size,
        eager=question.enforce_eager,
        kv_bytes=question.kv_cache_memory_bytes,
        offload_bytes=int((question.cpu_offload_gb or 0) * GIB),
        concurrency=question.concurrency,
        num_spec=question.num_speculative_tokens or 0,
        max_loras=question.max_loras or 0,
        max_lora_rank=question.max_lora_rank,
    )


def _stated_layout(question: Question, total: int) -> Layout | None:
    if not any((question.tp, question.pp, question.dp, question.ep, question.dcp, question.dp_attention)):
        return None
    pp, dp = question.pp or 1, question.dp or 1
    tp = question.tp or max(1, total // (pp * dp))
    if question.dp_attention:
        return _attention_layout(question, tp, pp)
    return Layout(tp, pp, dp, bool(question.ep), question.dcp or 1)


def _attention_layout(question: Question, tp: int, pp: int) -> Layout:
    """Data-parallel attention: inside the tensor-parallel group for SGLang, in its place for vLLM."""
    if question.engine == "sglang":
        return Layout(tp, pp, question.dp or tp, bool(question.ep), dp_inside_tp=True)
    if question.dp and question.dp > 1:
        return Layout(question.tp or 1, pp, question.dp, True)
    return Layout(1, pp, tp, True)
