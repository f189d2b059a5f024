"""What REST takes: closed shapes, so that a field nobody reads is refused instead of ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag

MOST_MESSAGES = 100


def _has_words(text: str) -> str:
    if not text.strip():
        raise ValueError("a message says something")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_has_words)]


class Closed(Schema):
    """A body or a part of one: no other fields, no types that are almost right."""

    model_config = ConfigDict(extra="forbid", strict=True)


class TextPart(Closed):
    """A part of a message."""

    type: Literal["text"] = "text"
    text: Text


def _form(content: object) -> str:
    return "parts" if isinstance(content, list) else "text"


Parts = Annotated[list[TextPart], Field(min_length=1, max_length=100)]
Content = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Parts, Tag("parts")], Discriminator(_form)
]


class UserMessage(Closed):
    """What the user says: a text, or parts that are joined by newlines."""

    role: Literal["user"]
    content: Content

    @property
    def text(self) -> str:
        """The message as one text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class ChatIn(Closed):
    """A message to an agent. Without `thread_id` the run has a hidden thread of its own."""

    manifest: str = Field(min_length=1, max_length=128)
    messages: list[UserMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    thread_id: str | None = None
    model: str | None = Field(default=None, max_length=200)


class AbortIn(Closed):
    """The thread whose run is to stop."""

    thread_id: str


class DecideIn(Closed):
    """A reviewer's word. `digest` and `revision` are what was shown; with them nothing else can be
    approved.
    """

    decision: Literal["approve", "deny"]
    note: str = Field(default="", max_length=4000)
    edited_args: dict[str, Any] | None = None
    digest: str | None = Field(default=None, max_length=128)
    revision: int | None = None
