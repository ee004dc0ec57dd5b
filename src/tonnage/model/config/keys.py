"""A read-only, typed view of a configuration file: several names per fact, every value checked before use."""

from __future__ import annotations

import builtins
from collections.abc import Mapping

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Ceilings that no published model comes near; beyond them a number is a mistake or an attack on our running time.
SIZE_MAX = 1 << 28
LAYERS_MAX = 1024
ITEMS_MAX = 65536
SHOWN_MAX = 64

# Where multimodal files keep the language model, and where some families keep parts of it.
TEXT_KEYS = ("text_config", "llm_config", "language_config", "llm", "thinker_config")
PART_KEYS = ("attn_config", "ffn_config")


@value
class Config:
    """Typed getters over one mapping. Each takes the names a fact is known by and uses the first that is not null.

    `path` is what stands before a key in error messages (`text_config.`).
    """

    values: Mapping[builtins.str, object]
    path: builtins.str = ""

    def has(self, *keys: builtins.str) -> builtins.bool:
        """Whether one of the keys is present and not null."""
        return any(self.values.get(key) is not None for key in keys)

    def names(self) -> Iterator[builtins.str]:
        """The keys present, null ones included, as strings."""
        return (str(key) for key in self.values)

    def raw(self, *keys: builtins.str) -> object:
        """The first value that is not null, unchecked; None when there is none."""
        return self._find(keys)[1]

    def opt_int(
        self, *keys: builtins.str, least: builtins.int = 1, most: builtins.int = SIZE_MAX
    ) -> builtins.int | None:
        """An integer within `least`..`most`, or None when absent. Booleans, fractions and strings are refused."""
        key, value = self._find(keys)
        return None if value is None else self._checked(key, value, least, most)

    def int(self, *keys: builtins.str, least: builtins.int = 1, most: builtins.int = SIZE_MAX) -> builtins.int:
        """Like `opt_int`; an absent key is an UnreadableError."""
        value = self.opt_int(*keys, least=least, most=most)
        if value is None:
            raise UnreadableError(f"{self.path}{keys[0]}", "absent", f"the configuration must give {' or '.join(keys)}")
        return value

    def count(self, *keys: builtins.str, most: builtins.int = SIZE_MAX) -> builtins.int:
        """A number of things, 0 when the key is absent."""
        return self.opt_int(*keys, least=0, most=most) or 0

    def opt_float(self, *keys: builtins.str, most: builtins.float = SIZE_MAX) -> builtins.float | None:
        """A finite number above 0 and up to `most`, or None when absent."""
        key, value = self._find(keys)
        if value is None:
            return None
        if isinstance(value, builtins.bool) or not isinstance(value, (builtins.int, float)) or not 0 < value <= most:
            raise UnreadableError(f"{self.path}{key}", _shown(value), f"a number above 0, at most {most:g}")
        return float(value)

    def opt_bool(self, *keys: builtins.str) -> builtins.bool | None:
        """A boolean, or None when absent."""
        key, value = self._find(keys)
        if value is not None and not isinstance(value, builtins.bool):
            raise UnreadableError(f"{self.path}{key}", _shown(value), "true or false")
        return value

    def bool(self, *keys: builtins.str, default: builtins.bool = False) -> builtins.bool:
        """A boolean, `default` when absent."""
        value = self.opt_bool(*keys)
        return default if value is None else value

    def opt_str(self, *keys: builtins.str) -> builtins.str | None:
        """A string, or None when absent."""
        key, value = self._find(keys)
        if value is not None and not isinstance(value, builtins.str):
            raise UnreadableError(f"{self.path}{key}", _shown(value), "a string")
        return value

    def str(self, *keys: builtins.str, default: builtins.str = "") -> builtins.str:
        """A string, `default` when absent."""
        value = self.opt_str(*keys)
        return default if value is None else value

    def opt_list(self, *keys: builtins.str) -> tuple[object, ...] | None:
        """The items of a list, unchecked, or None when absent."""
        key, value = self._find(keys)
        if value is None:
            return None
        if not isinstance(value, (builtins.list, tuple)) or len(value) > ITEMS_MAX:
            raise UnreadableError(f"{self.path}{key}", _shown(value), f"a list of at most {ITEMS_MAX} items")
        return tuple(value)

    def list(self, *keys: builtins.str) -> tuple[object, ...]:
        """The items of a list, unchecked; empty when absent."""
        return self.opt_list(*keys) or ()

    def ints(
        self, *keys: builtins.str, least: builtins.int = 0, most: builtins.int = SIZE_MAX
    ) -> tuple[builtins.int, ...] | None:
        """A list of integers within `least`..`most`, or None when absent."""
        items = self.opt_list(*keys)
        key = self._find(keys)[0]
        return None if items is None else tuple(self._checked(key, item, least, most) for item in items)

    def strs(self, *keys: builtins.str) -> tuple[builtins.str, ...] | None:
        """A list of strings, or None when absent."""
        items, found = self.opt_list(*keys), []
        for item in items or ():
            if not isinstance(item, builtins.str):
                raise UnreadableError(f"{self.path}{self._find(keys)[0]}", _shown(item), "a list of strings")
            found.append(item)
        return None if items is None else tuple(found)

    def sub(self, *keys: builtins.str) -> Config | None:
        """The nested mapping under the first key that is present, or None."""
        key, value = self._find(keys)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise UnreadableError(f"{self.path}{key}", _shown(value), "an object with named values")
        return Config(value, f"{self.path}{key}.")

    def unknown(self, key: builtins.str, seen: object, accepted: builtins.str) -> UnknownKeyError:
        """The error to raise for a key that matters and is not understood."""
        return UnknownKeyError(f"{self.path}{key}", _shown(seen), accepted)

    def _find(self, keys: tuple[builtins.str, ...]) -> tuple[builtins.str, object]:
        # Published files write null for what they leave to the code, so null means absent.
        for key in keys:
            value = self.values.get(key)
            if value is not None:
                return key, value
        return keys[0], None

    def _checked(self, key: builtins.str, value: object, least: builtins.int, most: builtins.int) -> builtins.int:
        # In Python a boolean is an integer; in a configuration it is a mistake.
        is_whole = isinstance(value, builtins.int) and not isinstance(value, builtins.bool)
        if not isinstance(value, builtins.int) or not is_whole or not least <= value <= most:
            raise UnreadableError(f"{self.path}{key}", _shown(value), f"an integer from {least} to {most}")
        return value


def text_config(config: Mapping[str, object]) -> Config:
    """The part of a configuration that describes the language model, parts such as `attn_config` merged in."""
    view = Config(config)
    while (inner := view.sub(*TEXT_KEYS)) is not None:
        # Some nested texts leave their type to the outer file.
        kind = {} if inner.has("model_type") else {"model_type": view.raw("model_type")}
        view = Config({**inner.values, **kind}, inner.path)
    merged: dict[str, object] = {}
    # A key of the text itself wins over one of its parts: DBRX repeats `model_type` in each, empty.
    for part in (view.sub(key) for key in PART_KEYS):
        merged.update(part.values if part else {})
    return Config({**merged, **view.values}, view.path) if merged else view


def num_layers(cfg: Config) -> int:
    """Number of decoder layers, under any of its names."""
    return cfg.int("num_hidden_layers", "n_layers", "n_layer", "num_layers", most=LAYERS_MAX)


def vocab_size(cfg: Config) -> int:
    """Number of rows of the embedding table."""
    return cfg.int("vocab_size", "padded_vocab_size")


def hidden_size(cfg: Config) -> int:
    """Width of the residual stream, under any of its names."""
    return cfg.int("hidden_size", "n_embd", "d_model")


def _shown(value: object) -> str:
    # The repr of a long integer is itself refused by Python beyond 4300 digits.
    if isinstance(value, int) and abs(value) > 1 << SHOWN_MAX:
        return "an enormous integer"
    if isinstance(value, (Mapping, list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:SHOWN_MAX]
