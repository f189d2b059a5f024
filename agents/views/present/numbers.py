"""Numbers and ids as the panel writes them."""

from __future__ import annotations

THIN_SPACE = "\u2009"


def grouped(number: int) -> str:
    """Return `12 480`: thousands apart by a thin space."""
    return f"{number:,}".replace(",", THIN_SPACE)


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 line` or `214 lines`; `many` defaults to `one` with an s."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def short_digest(digest: str) -> str:
    """Return the first eight digits of a digest in two groups: enough to compare by eye."""
    return f"{digest[:4]} {digest[4:8]}".strip()


def cut_middle(text: str, length: int = 24) -> str:
    """Return the text cut in its middle: ids differ at their ends."""
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[-tail:]}"


def table_usd(micros: int) -> str:
    """Return an amount for a column: `$0.21`, and `$0.0004` where two digits would show nothing."""
    usd = micros / 1_000_000
    if 0 < usd < 0.01:
        return f"${usd:.4f}"
    return f"${usd:,.2f}"
