"""From bytes to text that the parser may see: size, encoding, characters."""

from __future__ import annotations

import codecs
import json
import re
from bisect import bisect_left
from dataclasses import dataclass, field

from agents.core.manifest.document import START, Position
from agents.core.manifest.problems import ManifestInvalid, Problem
from agents.core.manifest.scalars import unprintable

MAX_BYTES = 256 * 1024

_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
# A pair counts only after an even number of backslashes: in "\\ud83d" the u is a plain letter.
_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True, slots=True)
class Text:
    """Decoded text.

    `shortened` maps a line (from 1) to the columns behind which two characters were taken out.
    """

    body: str
    shortened: dict[int, list[int]] = field(default_factory=dict)

    def original(self, at: Position) -> Position:
        """Return the place in the author's file of a place in `body`."""
        columns = self.shortened.get(at.line, [])
        return Position(at.line, at.column + 2 * bisect_left(columns, at.column))


def place_of(text: str, index: int) -> Position:
    """Return the line and column of a character."""
    line, start = 1, 0
    for end in _LINE_END.finditer(text, 0, index):
        line, start = line + 1, end.end()
    return Position(line, index - start + 1)


def _refuse(file: str, message: str, at: Position = START) -> ManifestInvalid:
    return ManifestInvalid([Problem((), at.line, at.column, message)], file=file)


def decode(source: str | bytes, *, file: str) -> Text:
    """Return the text of a manifest, without a byte order mark.

    Raises:
        ManifestInvalid: it is over 256 KiB, not UTF-8, or holds a character that cannot be shown.
    """
    _check_size(source, file)
    if isinstance(source, bytes):
        source = _utf8(source, file)
    body = source.removeprefix("\ufeff")
    bad = unprintable(body)
    if bad is not None:
        message = f"the character U+{ord(body[bad]):04X} is not allowed in a manifest"
        raise _refuse(file, message, place_of(body, bad))
    return _join_pairs(body)


def _check_size(source: str | bytes, file: str) -> None:
    size = len(source)
    if size <= MAX_BYTES and isinstance(source, str):
        size = len(source.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"the manifest is {-(-size // 1024)} KiB large; at most 256 KiB are read"
        raise _refuse(file, message)


def _utf8(source: bytes, file: str) -> str:
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _refuse(file, "this file is UTF-16; save it as UTF-8")
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        good = source[: error.start].decode("utf-8")
        at = place_of(good, len(good))
        raise _refuse(file, "this byte is not UTF-8; save the file as UTF-8", at) from None


def _join_pairs(body: str) -> Text:
    r"""Return the text with the surrogate pairs of JSON strings written as YAML can read them.

    JSON writes an emoji as `\ud83d\ude00`, which libyaml refuses; `\U0001F600` means the same in
    both quotings. Only text that is JSON is touched: in other YAML the same letters may stand in
    single quotes and mean themselves.
    """
    if not body.lstrip().startswith("{") or not _PAIR.search(body) or not _is_json(body):
        return Text(body)
    shortened: dict[int, list[int]] = {}
    lines = re.split(f"({_LINE_END.pattern})", body)
    for number, index in enumerate(range(0, len(lines), 2), start=1):
        lines[index] = _join_line(lines[index], shortened.setdefault(number, []))
    return Text("".join(lines), shortened)


def _join_line(line: str, columns: list[int]) -> str:
    def join(found: re.Match[str]) -> str:
        columns.append(found.start() + 1 - 2 * len(columns))
        high, low = int(found[2], 16), int(found[3], 16)
        code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        return f"{found[1]}\\U{code:08X}"

    return _PAIR.sub(join, line)


def _is_json(body: str) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
