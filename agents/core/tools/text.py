"""Bytes of a file as text and back, losing nothing: encoding, byte order mark and line ends."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass

SNIFF_BYTES = 8192
CRLF, LF = "\r\n", "\n"

# The 32-bit marks come first: the 16-bit little-endian one is a prefix of theirs.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes are text. `mark` is its byte order mark, empty where it has none."""

    codec: str = "utf-8"
    mark: bytes = b""

    @property
    def errors(self) -> str:
        """The error handler under which any bytes of a UTF-8 file come back as they were."""
        return "surrogateescape" if self.codec == "utf-8" else "strict"

    @property
    def label(self) -> str:
        """The name that a person reads."""
        return self.codec.upper() + (" with byte order mark" if self.mark else "")

    def encode(self, text: str) -> bytes:
        """Return the file's bytes for a text, the mark first."""
        return self.mark + text.encode(self.codec, self.errors)


def encoding_of(head: bytes) -> Encoding | None:
    """Return the encoding that the first bytes of a file tell; None where they are binary.

    A mark decides; without one it is UTF-8, and a NUL byte means that it is no text.
    """
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return Encoding(codec, mark)
    return None if b"\0" in head else Encoding()


@dataclass(frozen=True, slots=True)
class FileText:
    """A whole file as text. Bytes that are not valid UTF-8 stand in it as lone surrogates."""

    text: str
    encoding: Encoding

    @property
    def line_end(self) -> str | None:
        """The one line end the file uses; None where it uses none, or both."""
        crlf = self.text.count(CRLF)
        lf = self.text.count(LF) - crlf
        if crlf and not lf:
            return CRLF
        return LF if lf and not crlf else None

    @property
    def has_invalid_bytes(self) -> bool:
        """True where some bytes are not valid UTF-8."""
        return has_lone_surrogate(self.text)


def decode_file(data: bytes) -> FileText | None:
    """Return the file's bytes as text; None where they are binary."""
    encoding = encoding_of(data)
    if encoding is None:
        return None
    body = data[len(encoding.mark) :]
    try:
        return FileText(body.decode(encoding.codec, encoding.errors), encoding)
    except UnicodeDecodeError:
        return None


def with_line_end(text: str, line_end: str | None) -> str:
    """Return the text with every line end (LF or CRLF) turned into this one; None changes none."""
    if line_end is None:
        return text
    return text.replace(CRLF, LF).replace(LF, line_end)


def has_lone_surrogate(text: str) -> bool:
    """True where the text cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def clean(text: str) -> str:
    """Return the text as every store and client can hold it: lone surrogates and NUL are U+FFFD.

    PostgreSQL refuses U+0000, and JSON with a lone surrogate breaks strict readers.
    """
    if has_lone_surrogate(text):
        paired = text.encode("utf-16-le", "surrogatepass")
        text = paired.decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def shown_path(path: str) -> str:
    """Return a path on one line: as it is, or quoted where it holds anything but printable text."""
    path = clean(path)
    return path if path.isprintable() else json.dumps(path, ensure_ascii=True)


def lines_of(text: str) -> list[str]:
    """Return the lines, each with its line feed; only LF ends a line."""
    lines = text.split(LF)
    last = lines.pop()
    return [line + LF for line in lines] + ([last] if last else [])
