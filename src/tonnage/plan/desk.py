"""A question made ready: the model's parts, the fleet, the engine's rules and the limits asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tonnage.catalog.fleet import Fleet
from tonnage.engines.table import make_engine
from tonnage.errors import LayoutError, UsageError
from tonnage.layout.layout import Layout
from tonnage.memory.engine import Engine, Limits
from tonnage.plan.evaluate import Evaluation, Job, evaluate
from tonnage.plan.fleets import find_fleet
from tonnage.plan.models import Model, find_model
from tonnage.plan.question import Question
from tonnage.units import GIB

# Two pages of text; without a stated context, a start with less is not called a fit.
SMALLEST_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything a question needs, looked up once. `layout` is the one it states; None leaves the choice to us."""

    question: Question
    model: Model
    fleet: Fleet
    engine: Engine
    limits: Limits
    layout: Layout | None

    def job(self, layout: Layout, limits: Limits | None = None) -> Job:
        """The job of evaluating `layout` on this desk."""
        card = self.fleet.accelerator
        return Job(self.model.parts, self.engine, card, layout, limits or self.limits, card.capacity_bytes)

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
        return replace(self, fleet=fleet, engine=engine, layout=None)

    def stored_as(self, precision: str) -> Desk:
        """The same question about the model in another precision."""
        question = self.question
        return replace(self, model=find_model(question.model, precision, question.trust))


def open_desk(question: Question) -> Desk:
    """Look up model, fleet and engine. Raises UsageError or UnreadableError naming what is unknown."""
    model = find_model(question.model, question.quantization, question.trust)
    fleet = find_fleet(question)
    engine = make_engine(question.engine, question.engine_version, fleet.accelerator)
    return Desk(question, model, fleet, engine, _limits(question), _stated_layout(question, fleet.num_cards))


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
    )


def _stated_layout(question: Question, total: int) -> Layout | None:
    if not any((question.tp, question.pp, question.dp, question.ep, question.dcp, question.dp_attention)):
        return None
    pp, dp = question.pp or 1, question.dp or 1
    tp = question.tp or max(1, total // (pp * dp))
    if question.dp_attention:
        layout = _attention_layout(question, tp, pp)
    else:
        layout = Layout(tp, pp, dp, bool(question.ep), question.dcp or 1)
    if layout.world > total:
        raise LayoutError("layout", f"{layout.words} needs {layout.world} cards", f"at most the {total} given")
    return layout


def _attention_layout(question: Question, tp: int, pp: int) -> Layout:
    """Data-parallel attention: inside the tensor-parallel group for SGLang, in its place for vLLM."""
    if question.engine == "sglang":
        return Layout(tp, pp, question.dp or tp, bool(question.ep), dp_inside_tp=True)
    if question.dp and question.dp > 1:
        return Layout(question.tp or 1, pp, question.dp, True)
    return Layout(1, pp, tp, True)
