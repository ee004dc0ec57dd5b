"""Immutable records with named fields, made without `dataclasses`.

`@value` gives a class what a frozen dataclass with slots has: fields by position or keyword, defaults, `__post_init__`,
equality, hash, a readable text, patterns of `match`. Importing `dataclasses` loads `inspect`, `ast` and `dis`, and it
compiles methods for every class; for the sixty classes of one question that takes longer than the answer. Values share
their methods instead, until one is made so often that compiling its `__init__` pays.
"""

from __future__ import annotations

# Not `operator`, whose Python half nobody needs here.
from _operator import attrgetter, ge, gt, le, lt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn, TypeVar, dataclass_transform

    T = TypeVar("T")
    Setters = dict[str, Callable[[Any, Any], None]]
else:

    def dataclass_transform(**_flags: object) -> Callable[[Any], Any]:
        """Stands for `typing.dataclass_transform`, which speaks to type checkers only."""
        return lambda decorator: decorator


COMPILED_AFTER = 256  # instances; compiling takes as long as making some 150 of them


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """`cls` as an immutable record with slots: its annotations are its fields, those without a default first."""
    return _make(cls, _METHODS)


@dataclass_transform(frozen_default=True, order_default=True)
def ordered_value(cls: type[T]) -> type[T]:
    """Like `value`; two of the same class compare by their fields in order."""
    return _make(cls, _METHODS | _COMPARISONS)


def replace(record: T, **changes: Any) -> T:
    """A copy of a value with some fields changed; TypeError for a name that is no field."""
    cls: Any = type(record)
    items = [changes.pop(name, item) for name, item in zip(fields(cls), cls._items(record), strict=True)]
    if changes:
        raise TypeError(f"{cls.__qualname__}: no fields {', '.join(changes)}")
    made: T = cls(*items)
    return made


def fields(cls: type[Any]) -> tuple[str, ...]:
    """Names of the fields of a value class, in order."""
    names: tuple[str, ...] = cls.__match_args__
    return names


def defaults(cls: type[Any]) -> Mapping[str, Any]:
    """The defaults of a value class by field, without the fields that have none."""
    known: Mapping[str, Any] = cls._defaults
    return known


def is_value(item: object) -> bool:
    """Whether an object is a value."""
    return hasattr(item, "_defaults")


def _make(cls: type[T], methods: Mapping[str, Any]) -> type[T]:
    """`cls` made again, because a class gets slots only at its birth."""
    names = tuple(cls.__annotations__)
    body = {**methods, **cls.__dict__}
    known = {name: body.pop(name) for name in names if name in body}
    for own in ("__dict__", "__weakref__"):
        body.pop(own, None)
    body |= {"__slots__": names, "__match_args__": names, "_defaults": known, "_items": _getter(names)}
    metaclass: Any = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    # A slot's own setter, because `__setattr__` is closed.
    made.__init__ = _initialiser(made, {name: made.__dict__[name].__set__ for name in names})
    return made  # type: ignore[no-any-return]


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    getter: Any = attrgetter(*names)
    # Of a single name `attrgetter` gives the item itself.
    return getter if len(names) > 1 else staticmethod(lambda record: (getter(record),))


def _initialiser(cls: Any, setters: Setters) -> Callable[..., None]:
    known, names, puts, has_check = (
        cls._defaults,
        tuple(setters),
        tuple(setters.values()),
        hasattr(cls, "__post_init__"),
    )
    rest = tuple(known.values())
    least, left = len(names) - len(rest), COMPILED_AFTER

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        if not left:
            cls.__init__ = _compiled(cls, setters)
        if named:
            said = dict(zip(names, given, strict=False)) | named
            items = known | said
            if len(said) != len(given) + len(named) or items.keys() != setters.keys():
                _refuse(type(self), given, named)
            for name, item in items.items():
                setters[name](self, item)
        elif least <= len(given) <= len(names):
            for put, item in zip(puts, given + rest[len(given) - least :], strict=True):
                put(self, item)
        else:
            _refuse(type(self), given, named)
        if has_check:
            self.__post_init__()

    return __init__


def _compiled(cls: Any, setters: Setters) -> Callable[..., None]:
    """The same without loops, two to three times as fast."""
    parameters = ", ".join(f"{name}=_known[{name!r}]" if name in cls._defaults else name for name in setters)
    lines = [f"_put_{name}(self, {name})" for name in setters]
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    space: dict[str, Any] = {f"_put_{name}": put for name, put in setters.items()} | {"_known": cls._defaults}
    exec(f"def __init__(self, {parameters}):\n    " + "\n    ".join(lines), space)
    initialiser: Callable[..., None] = space["__init__"]
    return initialiser


def _refuse(cls: type[Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> NoReturn:
    names, taken = fields(cls), fields(cls)[: len(given)]
    missing = [name for name in names[len(given) :] if name not in named and name not in defaults(cls)]
    wrong = [name for name in named if name not in names or name in taken]
    surplus = max(0, len(given) - len(names))
    raise TypeError(f"{cls.__qualname__}: {missing} missing, {wrong} unknown or given twice, {surplus} too many")


def _is_equal(self: Any, other: Any) -> Any:
    return self._items(self) == self._items(other) if self.__class__ is other.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._items(self))


def _repr(self: Any) -> str:
    items = ", ".join(f"{name}={item!r}" for name, item in zip(fields(type(self)), self._items(self), strict=True))
    return f"{type(self).__qualname__}({items})"


def _refuse_change(self: Any, name: str, *_item: object) -> NoReturn:
    raise AttributeError(f"cannot change field {name!r} of {type(self).__qualname__}: make another with `replace`")


def _reduce(self: Any) -> tuple[Any, ...]:
    """Copies and pickles are made anew from the fields."""
    return type(self), self._items(self)


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def compared(self: Any, other: Any) -> Any:
        return compare(self._items(self), self._items(other)) if self.__class__ is other.__class__ else NotImplemented

    return compared


class _DataclassFields:
    """Lets `dataclasses.asdict`, `replace` and `fields` work on values; the table is made when one of them asks."""

    def __get__(self, record: object, cls: type[Any]) -> Any:
        from dataclasses import field, make_dataclass

        rows = [(name, cls.__annotations__[name], field(**_stated(cls, name))) for name in fields(cls)]
        made: Any = make_dataclass(cls.__name__, rows)
        type.__setattr__(cls, "__dataclass_fields__", made.__dataclass_fields__)
        return made.__dataclass_fields__


def _stated(cls: type[Any], name: str) -> dict[str, Any]:
    return {"default": defaults(cls)[name]} if name in defaults(cls) else {}


_METHODS = {
    "__eq__": _is_equal,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__reduce__": _reduce,
    "__dataclass_fields__": _DataclassFields(),
}
_COMPARISONS = {f"__{compare.__name__}__": _comparison(compare) for compare in (lt, le, gt, ge)}
