"""A mixture of experts."""

from __future__ import annotations

from tonnage.model.ffn.dense import Dense, dense_tensors
from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.tensor import Kind, Split


@value
class Moe:
    """`experts` routed experts of inner width `width`, `top_k` of them active per token.

    `shared_width` is the inner width of all shared experts together (0: none); `shared_gate` adds hidden x 1 (Qwen).
    `latent` is the width in which routed experts work when it is not the hidden size (Kimi K3, Nemotron 3).
    `router_bias` adds one correction value per expert; `expert_bias` biases inside experts (gpt-oss).
    `identity_experts` are routed to but hold no weights (LongCat). Layers with
    `hash_rows` route by a table of that many rows (the vocabulary) and top_k columns.
    `latent_norm` is True where the latent carries a norm, `latent_plain` where engines keep its two projections in the
    model's dtype (both Kimi K3). `router_dtype` is the type engines keep the router in when it is not the model's
    (`float32`). `has_extra_scales` adds a scale per expert and per channel (Gemma 4).
    `router`, `expert` and `shared` are the checkpoint's names of those parts inside the block.
    """

    experts: int
    width: int
    top_k: int
    gated: bool = True
    shared_width: int = 0
    shared_gate: bool = False
    shared_gated: bool = True
    latent: int | None = None
    latent_norm: bool = False
    latent_plain: bool = False
    has_extra_scales: bool = False
    router_bias: bool = False
    router_linear_bias: bool = False
    expert_bias: bool = False
    identity_experts: int = 0
    hash_rows: int | None = None
    router_dtype: str | None = None
    name: str = "mlp"
    router: str = "gate"
    expert: str = "experts"
    shared: str = "shared_experts"


def moe_tensors(part: Moe, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one mixture of experts of residual width `hidden`."""
    experts = _experts(part, part.latent or hidden)
    return (*_router(part, hidden), *experts, *_latent(part, hidden), *_shared(part, hidden))


def _router(part: Moe, hidden: int) -> list[Tensor]:
    name = f"{part.name}.{part.router}"
    # The router chooses among identity experts too, so its matrix has rows for them.
    routes = part.experts + part.identity_experts
    tensors = [Tensor(name, routes, hidden, kind="plain", dtype=part.router_dtype)]
    if part.router_linear_bias:
        tensors.append(vector(f"{name}.bias", routes))
    if part.router_bias:
        # Engines add it to 32-bit scores, whatever the checkpoint stores.
        tensors.append(vector(f"{name}.e_score_correction_bias", routes, dtype="float32"))
    if part.has_extra_scales:
        tensors += [vector(f"{name}.scale", hidden), vector(f"{name}.per_expert_scale", part.experts)]
    if part.hash_rows is not None:
        tensors.append(Tensor(f"{name}.tid2eid", part.hash_rows, part.top_k, kind="plain", dtype="int32"))
    return tensors


def _experts(part: Moe, width: int) -> list[Tensor]:
    name = f"{part.name}.{part.expert}"
    inward = ("gate_proj", "up_proj") if part.gated else ("up_proj",)
    # One tensor stands for the same matrix of all experts of the layer.
    sizes = dict.fromkeys(inward, (part.width, width)) | {"down_proj": (width, part.width)}
    tensors = [
        Tensor(f"{name}.{key}", rows, cols, "cols" if key == "down_proj" else "rows", copies=part.experts,
               is_expert=True, fused="gate_up_proj" if key in inward and part.gated else None)
        for key, (rows, cols) in sizes.items()
    ]  # fmt: skip
    if part.expert_bias:
        tensors += [_bias(f"{name}.{key}", rows, part, key in inward) for key, (rows, _) in sizes.items()]
    return tensors


def _bias(name: str, size: int, part: Moe, is_divided: bool) -> Tensor:
    # The output bias is added once, after the sum over ranks, so each rank holds it whole.
    split: Split = "rows" if is_divided else "none"
    return Tensor(f"{name}.bias", size, 1, split, "plain", copies=part.experts, is_expert=True)


def _latent(part: Moe, hidden: int) -> list[Tensor]:
    if part.latent is None:
        return []
    kind: Kind = "plain" if part.latent_plain else "linear"
    tensors = [
        Tensor(f"{part.name}.fc1_latent_proj", part.latent, hidden, kind=kind),
        Tensor(f"{part.name}.fc2_latent_proj", hidden, part.latent, kind=kind),
    ]
    return [*tensors, vector(f"{part.name}.latent_norm", part.latent)] if part.latent_norm else tensors


def _shared(part: Moe, hidden: int) -> list[Tensor]:
    if not part.shared_width:
        return []
    shared = Dense(part.shared_width, part.shared_gated, name=f"{part.name}.{part.shared}")
    tensors = list(dense_tensors(shared, hidden))
    if part.shared_gate:
        tensors.append(Tensor(f"{part.name}.shared_expert_gate", 1, hidden, kind="plain"))
    return tensors
