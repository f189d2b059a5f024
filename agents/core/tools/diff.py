"""The difference of two texts by lines: always complete, and bounded in time for any input."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from agents.core.tools.base import DiffLine
from agents.core.tools.text import LF, clean

CONTEXT_LINES = 3
# Upper bound of the steps that all exact comparisons of one diff may take together.
EXACT_STEPS = 5_000_000
MAX_DEPTH = 8


class Match(NamedTuple):
    """`size` lines that are equal, from `old` on in one text and from `new` on in the other."""

    old: int
    new: int
    size: int


class _Region(NamedTuple):
    old: int
    old_end: int
    new: int
    new_end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows with their context, and how many lines were added and removed."""

    rows: tuple[DiffLine, ...]
    added: int
    removed: int


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Diff:
    """Return how `old` becomes `new`, with three lines of context around each change."""
    matches = [*matching(old, new), Match(len(old), len(new), 0)]
    rows: list[DiffLine] = []
    added = removed = at_old = at_new = 0
    for match in matches:
        removed += match.old - at_old
        added += match.new - at_new
        rows += [DiffLine("-", i + 1, None, _shown(old[i])) for i in range(at_old, match.old)]
        rows += [DiffLine("+", None, j + 1, _shown(new[j])) for j in range(at_new, match.new)]
        rows += _context(old, match, has_more=match.new + match.size < len(new))
        at_old, at_new = match.old + match.size, match.new + match.size
    if not added and not removed:
        rows = []
    return Diff(tuple(rows), added, removed)


def _context(old: Sequence[str], match: Match, *, has_more: bool) -> list[DiffLine]:
    """Return the first three lines of a match and its last three, as far as a change is beside."""
    end = match.old + match.size
    is_first = match.old == match.new == 0
    is_last = end == len(old) and not has_more
    after = range(match.old, match.old if is_first else min(end, match.old + CONTEXT_LINES))
    before = range(end if is_last else max(match.old, end - CONTEXT_LINES), end)
    shift = match.new - match.old
    return [DiffLine(" ", i + 1, i + 1 + shift, _shown(old[i])) for i in sorted({*after, *before})]


def _shown(line: str) -> str:
    return clean(line.removesuffix(LF))


def matching(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the runs of equal lines, in order and without overlap.

    Common ends are taken first. What is between is compared exactly by difflib while that is cheap;
    a larger region is split at the lines that occur once on both sides (patience diff), and one
    that has none counts as replaced. So the result is always right, and nearly always short.
    """
    steps_left = EXACT_STEPS
    found: list[Match] = []
    waiting = [_Region(0, len(old), 0, len(new), 0)]
    while waiting:
        region = _without_common_ends(old, new, waiting.pop(), found)
        if region.old == region.old_end or region.new == region.new_end:
            continue
        cost = _cost(old, new, region)
        if cost <= steps_left:
            steps_left -= cost
            found += _exact(old, new, region)
        elif region.depth < MAX_DEPTH:
            waiting += _split(old, new, region)
    return _joined(sorted(found))


def _joined(found: list[Match]) -> list[Match]:
    """Return the matches with those that touch on both sides made one."""
    joined: list[Match] = []
    for match in found:
        last = joined[-1] if joined else None
        if last and (last.old + last.size, last.new + last.size) == (match.old, match.new):
            joined[-1] = Match(last.old, last.new, last.size + match.size)
        else:
            joined.append(match)
    return joined


def _without_common_ends(
    old: Sequence[str], new: Sequence[str], region: _Region, found: list[Match]
) -> _Region:
    i, i_end, j, j_end, depth = region
    while i < i_end and j < j_end and old[i] == new[j]:
        i, j = i + 1, j + 1
    if i > region.old:
        found.append(Match(region.old, region.new, i - region.old))
    while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
    if i_end < region.old_end:
        found.append(Match(i_end, j_end, region.old_end - i_end))
    return _Region(i, i_end, j, j_end, depth)


def _cost(old: Sequence[str], new: Sequence[str], region: _Region) -> int:
    """Return an upper bound of the steps of difflib: its scan of a region, once for each match."""
    olds = Counter(old[region.old : region.old_end])
    news = Counter(new[region.new : region.new_end])
    pairs = sum(count * news[line] for line, count in olds.items())
    height, width = region.old_end - region.old, region.new_end - region.new
    return (pairs + height) * min(height, width)


def _exact(old: Sequence[str], new: Sequence[str], region: _Region) -> list[Match]:
    matcher = SequenceMatcher(
        None, old[region.old : region.old_end], new[region.new : region.new_end], autojunk=False
    )
    blocks = matcher.get_matching_blocks()
    return [Match(region.old + b.a, region.new + b.b, b.size) for b in blocks if b.size]


def _split(old: Sequence[str], new: Sequence[str], region: _Region) -> list[_Region]:
    """Return the regions between the anchors; each but the first begins with its anchor."""
    anchors = _anchors(old, new, region)
    if not anchors:
        return []
    starts = [(region.old, region.new), *anchors]
    ends = [*anchors, (region.old_end, region.new_end)]
    depth = region.depth + 1
    pairs = zip(starts, ends, strict=True)
    return [_Region(i, i_end, j, j_end, depth) for (i, j), (i_end, j_end) in pairs]


def _anchors(old: Sequence[str], new: Sequence[str], region: _Region) -> list[tuple[int, int]]:
    """Return the longest rising sequence of lines that are unique in both sides of the region."""
    olds = _unique(old, region.old, region.old_end)
    news = _unique(new, region.new, region.new_end)
    pairs = [(i, news[line]) for line, i in olds.items() if line in news]
    tops: list[int] = []
    ends: list[int] = []
    previous = [-1] * len(pairs)
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        previous[index] = ends[pile - 1] if pile else -1
        tops[pile : pile + 1] = [j]
        ends[pile : pile + 1] = [index]
    chain = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _unique(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Return the place of each line that occurs once, in the order of the lines."""
    counts = Counter(lines[start:end])
    return {lines[i]: i for i in range(start, end) if counts[lines[i]] == 1}
