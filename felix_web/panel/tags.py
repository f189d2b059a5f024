"""Template tags: untrusted text made visible, states, times, numbers. None asks the database."""

from __future__ import annotations

import time
from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from agents.views.present import moments, numbers
from agents.views.present.faces import Face
from felix_web.common import visible_text

register = template.Library()

UNKNOWN = SafeString('<span aria-hidden="true">–</span><span class="hidden">not known</span>')


def _now_ms(context: Any) -> int:
    return int(context.get("now_ms") or time.time() * 1000)


@register.filter
def visible(text: object) -> SafeString:
    """Return a stranger's text as HTML: escaped, with marks for what would hide or reorder it."""
    if text is None:
        return SafeString("")
    parts = visible_text.segments(str(text))
    return mark_safe(  # noqa: S308 - every part is escaped here
        "".join(
            f'<span class="mark-char">{escape(part.text.strip("<>"))}</span>'
            if part.is_mark
            else escape(part.text)
            for part in parts
        )
    )


@register.filter
def one_line(text: object, limit: int = 120) -> SafeString:
    """Return the first characters of untrusted text on one line, marks included, escaped."""
    return escape(visible_text.one_line(str(text or ""), limit)) if text else SafeString("")


@register.filter
def cut_middle(text: object, limit: int = 24) -> SafeString:
    """Return an id or a path with both of its ends, escaped."""
    return escape(visible_text.cut_middle(str(text or ""), limit)) if text else SafeString("")


@register.filter
def duration(length_ms: int | None) -> str:
    """Return `0.8 s`, `3:07` or `2 h 14 min`; a dash with a word where it is not known."""
    return UNKNOWN if length_ms is None else moments.duration(length_ms)


@register.filter
def digest(value: str) -> str:
    """Return the digits of a digest that a person compares."""
    return numbers.short_digest(value)


@register.filter
def or_unknown(value: object) -> object:
    """Return the value, or a dash that is read aloud as "not known"."""
    return UNKNOWN if value in (None, "") else value


@register.simple_tag
def sign(shape: str) -> SafeString:
    """Return a sign of the sprite, hidden from readers: the word stands beside it."""
    return format_html('<svg class="sign" aria-hidden="true"><use href="#s-{}"/></svg>', shape)


@register.simple_tag
def tip() -> SafeString:
    """Return the small angle of a fold."""
    return SafeString('<svg class="tip" aria-hidden="true"><use href="#tip"/></svg>')


@register.simple_tag
def state(face: Face, calm: bool = False) -> SafeString:
    """Return a state as sign and word; `calm` keeps the hue of what is done to its sign."""
    extra = " calm" if calm else ""
    return format_html(
        '<span class="st is-{}{}">{}{}</span>', face.tone, extra, sign(face.sign), face.word
    )


@register.simple_tag(takes_context=True)
def moment(context: Any, at_ms: int | None, css: str = "") -> SafeString:
    """Return a moment as `<time>`: the clock of today or the date, with the full value and zone."""
    if at_ms is None:
        return UNKNOWN
    attribute = format_html(' class="{}"', css) if css else ""
    return format_html(
        '<time{} datetime="{}" title="{}">{}</time>',
        attribute,
        moments.iso(at_ms),
        moments.full(at_ms),
        moments.clock(at_ms, _now_ms(context)),
    )


@register.simple_tag(takes_context=True)
def time_left(context: Any, deadline_ms: int | None) -> str:
    """Return what is left of a deadline at the page's own moment."""
    return UNKNOWN if deadline_ms is None else moments.left(deadline_ms - _now_ms(context))


@register.simple_tag(takes_context=True)
def elapsed(context: Any, started_ms: int | None, ended_ms: int | None = None) -> str:
    """Return how long something took, or has taken at the page's own moment."""
    if started_ms is None:
        return UNKNOWN
    return moments.stopwatch((ended_ms or _now_ms(context)) - started_ms)


@register.simple_tag
def hidden_fields(**fields: object) -> SafeString:
    """Return hidden inputs, one for each name and value."""
    pairs = [(name, "" if value is None else value) for name, value in fields.items()]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)
