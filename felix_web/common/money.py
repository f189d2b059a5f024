"""Money is an integer of micro-dollars."""

from __future__ import annotations


def cost_micros(tokens: int, usd_per_million: float) -> int:
    """Return what the tokens cost in micro-dollars, rounded half up."""
    return int(tokens * usd_per_million + 0.5)


def show_usd(micros: int | None) -> str:
    """Return `$0.0412` (four digits under $1,000, two above); an en dash where unknown."""
    if micros is None:
        return "–"
    usd = micros / 1_000_000
    return f"${usd:,.4f}" if usd < 1000 else f"${usd:,.2f}"
