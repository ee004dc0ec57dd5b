"""State-space and linear mixers of one block of a GGUF model."""

from __future__ import annotations

from tonnage.model.headers.gguf.attention import HEADS
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.gguf.block import Block
    from tonnage.model.headers.gguf.facts import Facts

INNER, STATE, KERNEL = "ssm.inner_size", "ssm.state_size", "ssm.conv_kernel"
RANK, GROUPS = "ssm.time_step_rank", "ssm.group_count"


def read_mamba1(facts: Facts, block: Block) -> Mamba1:
    """First-generation state space (Jamba)."""
    return Mamba1(
        inner=facts.number(INNER),
        state=facts.number(STATE),
        kernel=facts.number(KERNEL),
        dt_rank=facts.number(RANK),
        inner_norms=block.has("ssm_dt_norm"),
        conv_bias=block.has("ssm_conv1d.bias"),
        proj_bias=block.has("ssm_in.bias"),
    )


def read_mamba2(facts: Facts, block: Block) -> Mamba2:
    """Second-generation state space (Nemotron-H, Granite 4, Falcon-H1); its rank is the number of heads."""
    heads = facts.number(RANK)
    return Mamba2(
        heads=heads,
        head_dim=facts.number(INNER) // heads,
        groups=facts.number(GROUPS),
        state=facts.number(STATE),
        kernel=facts.number(KERNEL),
        conv_bias=block.has("ssm_conv1d.bias"),
        proj_bias=block.has("ssm_in.bias"),
        gated_norm=block.has("ssm_norm"),
    )


def read_deltanet(facts: Facts, block: Block) -> DeltaNet:
    """Gated DeltaNet (Qwen3-Next, Qwen3.5); groups are key heads and the rank is the number of value heads."""
    value_heads = facts.number(RANK)
    return DeltaNet(
        key_heads=facts.number(GROUPS),
        value_heads=value_heads,
        key_dim=facts.number(STATE),
        value_dim=block.cols("ssm_out") // value_heads,
        kernel=block.cols("ssm_conv1d"),
        merged=block.has("ssm_ba"),
    )


def read_kda(facts: Facts, block: Block) -> Kda:
    """Kimi delta attention (Kimi-Linear, Kimi K3)."""
    return Kda(
        heads=facts.number(HEADS, block.number),
        head_dim=facts.number("kda.head_dim"),
        kernel=block.cols("ssm_conv1d_q"),
        full_rank_gate=block.has("attn_gate"),
    )
