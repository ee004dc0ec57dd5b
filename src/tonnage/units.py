"""Units that people read and write: every `render_` has a `parse_` that takes its output back.

Inside, bytes are int, times are float seconds and money is float US dollars. A `parse_` raises ValueError whose
text is `thing: value seen: what would be accepted`.
"""

from __future__ import annotations

KB, MB, GB, TB = 10**3, 10**6, 10**9, 10**12
KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40

_BYTE_UNITS = {
    "B": 1, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "KIB": KIB, "MIB": MIB, "GIB": GIB, "TIB": TIB,
}  # fmt: skip
_SECOND_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_MILLI = 1000.0
_MINUTE_S, _HOUR_S = 60.0, 3600.0
_CENTS_BELOW_USD = 100  # a price per hour needs its cents, a server's price does not


def ceil_div(value: int, divisor: int) -> int:
    """`value / divisor` rounded up, exactly; `divisor` must be positive."""
    return -(-value // divisor)


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `value`; `multiple` must be positive."""
    return ceil_div(value, multiple) * multiple


def render_gib(size: int, digits: int = 1) -> str:
    """Bytes as `31.0 GiB` with `digits` decimals; a small negative never prints as `-0.0`."""
    return f"{_fixed(size / GIB, digits)} GiB"


def render_bytes(size: int) -> str:
    """Bytes in the largest binary unit that keeps at least 1: `27.0 KiB`, `512 B`."""
    for name, unit in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(size) >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} B"


def parse_bytes(text: str) -> int:
    """Bytes from `31 GiB`, `80GB`, `27,648 B` or a bare number of bytes; rounded to the nearest byte."""
    number, unit = _split(text)
    factor = _BYTE_UNITS.get(unit.upper() or "B")
    if number is None or factor is None:
        raise ValueError(f"bytes: {text!r}: a number with B, KB, MB, GB, TB, KiB, MiB, GiB or TiB")
    if "." not in number:
        return int(number) * factor
    return _scaled(number, factor)


def parse_gib(text: str) -> int:
    """The inverse of `render_gib`: bytes, exact to the decimals printed."""
    if not text.strip().endswith("GiB"):
        raise ValueError(f"size: {text!r}: a number with GiB")
    return parse_bytes(text)


def render_usd(dollars: float) -> str:
    """Money as `310,000 USD`; below 100 with cents, `2.49 USD`."""
    digits = 2 if abs(dollars) < _CENTS_BELOW_USD else 0
    return f"{_fixed(dollars, digits)} USD"


def parse_usd(text: str) -> float:
    """The inverse of `render_usd`: US dollars."""
    number, unit = _split(text)
    if number is None or unit.upper() != "USD":
        raise ValueError(f"money: {text!r}: a number with USD")
    return float(number)


def render_seconds(seconds: float) -> str:
    """A time as `12.1 ms`, `4.2 s`, `12.0 min` or `3.0 h`; below a second always ms."""
    if abs(seconds) < 1:
        return f"{_fixed(seconds * _MILLI, 1)} ms"
    for name, unit in (("h", _HOUR_S), ("min", _MINUTE_S)):
        if abs(seconds) >= unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:.1f} s"


def parse_seconds(text: str) -> float:
    """The inverse of `render_seconds`: seconds."""
    number, unit = _split(text)
    factor = _SECOND_UNITS.get(unit)
    if number is None or factor is None:
        raise ValueError(f"time: {text!r}: a number with us, ms, s, min or h")
    return float(number) * factor


def render_count(count: int) -> str:
    """A count with thousands separated: `1,048,576`."""
    return f"{count:,}"


def parse_count(text: str) -> int:
    """The inverse of `render_count`; a bare number is taken too."""
    number, unit = _split(text)
    if number is None or unit or "." in number:
        raise ValueError(f"count: {text!r}: a whole number")
    return int(number)


def _fixed(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def _scaled(number: str, factor: int) -> int:
    """A decimal text times `factor`, in integers: a float would lose bytes above 2**53."""
    sign = -1 if number.startswith("-") else 1
    whole, _, part = number.lstrip("-").partition(".")
    scale: int = 10 ** len(part)
    return sign * ((2 * int(whole + part) * factor + scale) // (2 * scale))


def _split(text: str) -> tuple[str | None, str]:
    """Number and unit; None where the number is not one. Separators of thousands are dropped."""
    bare = text.strip().replace(",", "")
    number = bare.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit = bare[len(number) :].strip()
    digits = number.removeprefix("-").replace(".", "", 1)
    is_number = digits.isascii() and digits.isdigit() and not number.endswith(".")
    return (number if is_number else None), unit
