"""Write the catalogue's models from configuration files and rows of facts.

For developers. Nothing of the inputs is copied: every configuration goes through the project's own readers, and what
is written is the architecture they understood, in the schema of `tonnage.model.record`.

    python validation/import_models.py --configs FOLDER --facts FACTS.jsonl [--totals ROWS.jsonl] -o models.jsonl

FOLDER holds `ORG__NAME.json` and, beside it, `ORG__NAME.hf_quant_config.json`. FACTS are rows `{"id", "like" or
"config", "set", "source", "params", ...}`: the configuration of a model written as facts, or as the changes to that of
another one. `is_recalled` marks facts written from general knowledge: they come out as assumed, without a published
total and without a date. ROWS give published totals and sources by `hf_id`.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonnage.catalog.derive import list_bases
from tonnage.catalog.models import bare, fold
from tonnage.errors import TonnageError
from tonnage.model.arch import Arch, Layer
from tonnage.model.config.arch import read_arch
from tonnage.model.params import count_params
from tonnage.model.quantization.derived import scheme_from_name
from tonnage.model.quantization.precision import scheme_for
from tonnage.model.quantization.read import read_scheme
from tonnage.model.quantization.scheme import Scheme
from tonnage.model.record import KINDS, from_record, to_record
from tonnage.value import replace

Row = dict[str, Any]
HUB = "https://huggingface.co/"
QUANT = ".hf_quant_config.json"
SIZE, DATE = r"\d+(\.\d+)?[bm]\b", r"-\d{4}$"
ACTIVE = r"-a\d+(\.\d+)?b(?=-|$)"
# A total further off than this is another model, or a part the readers do not know.
TOLERANCE = 0.01
# Facts that were written down without opening the page they name.
RECALLED = "shape from general knowledge: no page or published total was compared"
PACKED_BITS = 8  # totals of checkpoints packed below this many bits count storage words, not parameters


@dataclass(slots=True)
class Inputs:
    """Everything read from the command line's paths."""

    configs: dict[str, Row] = field(default_factory=dict)
    quants: dict[str, Row] = field(default_factory=dict)
    totals: dict[str, Row] = field(default_factory=dict)
    facts: dict[str, Row] = field(default_factory=dict)


def main() -> int:
    """Write the file; what is refused or far from its published total is named on standard error."""
    args = parse_args()
    inputs = read_inputs(args)
    rows = [row for row in build_rows(inputs) if row is not None]
    add_aliases(rows)
    text = "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows)
    args.output.write_text(text, encoding="utf-8")
    print(f"{len(rows)} models, {len(text.encode()):,} bytes", file=sys.stderr)
    return 0


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=Path, required=True)
    parser.add_argument("--facts", type=Path, action="append", default=[])
    parser.add_argument("--totals", type=Path, action="append", default=[])
    parser.add_argument("--seen", default="2026-11-30", help="date of rows that give none")
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser.parse_args()


def read_inputs(args: argparse.Namespace) -> Inputs:
    inputs = Inputs()
    for path in sorted(args.configs.glob("*.json")):
        table = inputs.quants if path.name.endswith(QUANT) else inputs.configs
        name = path.name.removesuffix(QUANT).removesuffix(".json").replace("__", "/")
        table[name] = json.loads(path.read_text(encoding="utf-8"))
    for path in args.totals:
        inputs.totals |= {row["hf_id"]: row for row in read_rows(path)}
    for path in args.facts:
        for row in read_rows(path):
            merge_facts(inputs.facts.setdefault(row["id"], {}), row)
    return inputs


def read_rows(path: Path) -> Iterator[Row]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


def merge_facts(known: Row, row: Row) -> None:
    """Several rows of one model add up: aliases and notes are joined, other keys replaced."""
    joined = {key: [*known.get(key, ()), *row[key]] for key in ("aliases", "notes") if key in row}
    known.update(row | joined)


def build_rows(inputs: Inputs) -> Iterator[Row | None]:
    """Rows of all models: stored configurations first, facts after them; facts of a stored model add to its row."""
    facts = dict(inputs.facts)
    for name, config in inputs.configs.items():
        row, quant = facts.pop(name, {}), inputs.quants.get(name)
        if row.keys() & {"like", "set"}:
            config, quant = config_of({"like": name, "keeps_quantization": True} | row, inputs)
        yield build_row(name, config, quant, row, inputs.totals.get(name, {}), "datasheet")
    for name, row in facts.items():
        config, quant = config_of(row, inputs)
        yield build_row(name, config, quant, row, inputs.totals.get(name, {}), row.get("basis", "derived"))


def config_of(row: Row, inputs: Inputs) -> tuple[Row, Row | None]:
    """The configuration that facts describe: their own, or another model's with changes (None removes a key)."""
    like = row.get("like")
    config = json.loads(json.dumps(inputs.configs[like] if like else row["config"]))
    for path, value in row.get("set", {}).items():
        *outer, key = path.split(".")
        place = config
        for part in outer:
            place = place[part]
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
    return config, inputs.quants.get(like) if like and row.get("keeps_quantization") else None


def build_row(name: str, config: Row, quant: Row | None, facts: Row, known: Row, basis: str) -> Row | None:
    try:
        scheme = read_scheme(config, quant)
        arch = amend(read_arch(config, stated_scheme(name, facts) or scheme), facts)
    except TonnageError as error:
        print(f"refused {name}: {error.line}", file=sys.stderr)
        return None
    total = facts.get("params", known.get("hf_safetensors_total_params"))
    is_recalled = facts.get("is_recalled", False)
    notes = [*([RECALLED] if is_recalled else []), *facts.get("notes", ())]
    gap = count_params(arch).checkpoint / total - 1 if total else 0
    if abs(gap) > TOLERANCE and is_packed(arch):
        total = None
    elif abs(gap) > TOLERANCE:
        print(f"{gap:+.2%} {name}: {count_params(arch).checkpoint:,} computed, {total:,} published", file=sys.stderr)
        notes = notes or [f"{abs(gap):.1%} {'more' if gap > 0 else 'fewer'} parameters than the published total"]
    check_recalled(name, arch, facts.get("recalled_params"))
    record = to_record(arch)
    if from_record(json.loads(json.dumps(record))) != arch:
        raise SystemExit(f"error: {name}: the record does not come back")
    row = {
        "id": name,
        "aliases": list(facts.get("aliases", ())),
        "source": facts.get("source") or stated_url(known) or f"{HUB}{name}",
        "seen": None if is_recalled else facts.get("seen", "2026-11-30"),
        "basis": "assumed" if is_recalled else basis,
        "params": total,
        "notes": notes,
        "arch": record,
    }
    return {key: value for key, value in row.items() if value not in (None, []) or key == "aliases"}


def stated_url(known: Row) -> str | None:
    """The address in a row of totals, without its remarks; None where it names something else than a page."""
    source = str(known.get("source_url", "")).split(" ")[0]
    return source if source.startswith("https://") else None


def stated_scheme(name: str, facts: Row) -> Scheme | None:
    """The scheme that facts state: a precision, or the build that the model's name ends in."""
    is_moe = facts.get("is_moe", False)
    if facts.get("is_named"):
        derived = scheme_from_name(name, is_moe)
        return derived.scheme if derived else None
    return scheme_for(facts["precision"], is_moe) if "precision" in facts else None


def amend(arch: Arch, facts: Row) -> Arch:
    """`arch` with what no key of a configuration says: stored duplicates, sizes of one kind of mixer."""
    kinds = {KINDS[kind]: values for kind, values in facts.get("replace", {}).items()}
    known: dict[Layer, Layer] = {}
    for layer in dict.fromkeys((*arch.layers, *arch.draft)):
        mixers = tuple(replace(mixer, **kinds.get(type(mixer), {})) for mixer in layer.mixers)
        known[layer] = replace(layer, mixers=mixers)
    layers, draft = (tuple(known[layer] for layer in part) for part in (arch.layers, arch.draft))
    return replace(arch, layers=layers, draft=draft, duplicates=facts.get("duplicates", arch.duplicates))


def check_recalled(name: str, arch: Arch, total: int | None) -> None:
    """Compare with a total remembered or worked out rather than read: it finds slips and confirms nothing."""
    if total and abs(count_params(arch).checkpoint / total - 1) > TOLERANCE:
        print(f"{name}: {count_params(arch).checkpoint:,} computed, {total:,} remembered", file=sys.stderr)


def is_packed(arch: Arch) -> bool:
    """Whether the hub's total of this checkpoint counts storage words: two values and more in one byte."""
    rules = arch.scheme.rules if arch.scheme else ()
    return any(rule.format is not None and rule.format.bits < PACKED_BITS for rule in rules)


def add_aliases(rows: list[Row]) -> None:
    """Short spellings that no other model claims; models in 16 bit come first, longer spellings before shorter."""
    taken = {name for row in rows for name in (fold(row["id"]), bare(row["id"]), *map(fold, row["aliases"]))}
    for row in sorted(rows, key=lambda row: "scheme" in row["arch"]):
        for name in short_names(row["id"]):
            if name not in taken:
                taken.add(name)
                row["aliases"].append(name)


def short_names(name: str) -> list[str]:
    """Names without tunings, leads and the number of active parameters, all folded."""
    # Without a size in its name, another date may be another size (Mistral Small 2409 and 2501).
    bases = [base for base in list_bases(bare(name)) if re.search(SIZE, base) or not re.search(DATE, name)]
    bases += [base.removesuffix("-bf16") for base in bases]
    return list(dict.fromkeys((*bases, *(re.sub(ACTIVE, "", base) for base in bases))))


if __name__ == "__main__":
    sys.exit(main())
