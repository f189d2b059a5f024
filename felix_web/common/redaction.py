"""Secrets taken out of text that people or log collectors read."""

from __future__ import annotations

import re

MASK = "***"

# Every pattern is linear in the length of the text: no two neighbouring repetitions can match the
# same character. A token's characters include all letters and digits, so that a match always ends
# at a boundary; that keeps a second pass from finding what the first did not. Python's own engine
# is used because google-re2 refuses lone surrogates.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{1,60}-----(?:.*?-----END [A-Z0-9 ]{1,60}-----|.*)", re.DOTALL
)

_TOKEN_SHAPES = (
    r"fx_[0-9A-Za-z]{16,}",
    r"[a-z]{2,12}_[0-9A-Za-z]{52,}",
    r"sk-[0-9A-Za-z_-]{8,}",
    r"(?:gsk|hf|npm|whsec|gh[opsu]|ghr)_[0-9A-Za-z]{16,}",
    r"github_pat_[0-9A-Za-z_]{16,}",
    r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{8,}",
    r"glpat-[0-9A-Za-z_-]{16,}",
    r"pypi-[0-9A-Za-z_-]{16,}",
    r"xai-[0-9A-Za-z]{16,}",
    r"xox[a-z]-[0-9A-Za-z-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Za-z]{16,}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*",
)
_CREDENTIAL_NAMES = (
    r"pass(?:word|wd|phrase)|(?:api|access|private|secret|signing|encryption)[_-]?key|"
    r"(?:access|refresh|auth|session|id|bearer|api|resume)[_-]?token|secret"
)
_QUOTED = r"""\\?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_BARE = r"""["']?[^\s"',;&}]+"""

_SECRETS = re.compile(
    r"(?P<url>://[^\s/:@]{0,256}:)[^\s/]{1,1024}@"
    rf"|(?P<header>(?<![0-9a-z])(?:proxy-)?authorization[\"']?[ \t]{{0,8}}[:=][ \t]{{0,8}})"
    rf"(?:{_QUOTED}|[^\r\n,;}}]+)"
    rf"|(?P<assigned>(?:{_CREDENTIAL_NAMES})[\"']?[ \t]{{0,8}}[:=][ \t]{{0,8}})"
    rf"(?P<value>{_QUOTED}|{_BARE})"
    r"|(?P<bearer>(?<![0-9a-z])bearer[ \t]{1,8})[0-9a-z._~+/=-]{8,}"
    rf"|(?<![0-9a-z])(?:(?-i:{'|'.join(_TOKEN_SHAPES)}))",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(rf"(?:{_CREDENTIAL_NAMES}|authorization|cookie)$", re.IGNORECASE)


def redact(text: str) -> str:
    """Return the text with `***` in place of every credential known by its shape or its name.

    Felix keys, provider and platform keys, bearer tokens, passwords in URLs and assignments, PEM
    blocks. Text without any is returned as it is. Redacting twice changes nothing more. It is the
    last net, not the first: code that holds a secret does not log it.
    """
    return _SECRETS.sub(_masked, _PEM.sub(MASK, text))


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a credential, whatever its value looks like."""
    return _SECRET_NAME.search(name) is not None


def _masked(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "url":
        return f"{match['url']}{MASK}@"
    if match["header"] is not None:
        return f"{match['header']}{MASK}"
    if match["assigned"] is not None:
        quote = match["value"][0] if match["value"][0] in "\"'" else ""
        closing = quote if len(match["value"]) > 1 and match["value"][-1] == quote else ""
        return f"{match['assigned']}{quote}{MASK}{closing}"
    return f"{match['bearer'] or ''}{MASK}"
