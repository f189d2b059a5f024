"""The root of every error Felix raises on purpose, and the few that every floor shares."""

from __future__ import annotations

from typing import Any, ClassVar


class FelixError(Exception):
    """Something went wrong that Felix can name.

    The docstring of a subclass is its default message. `code` is stable and goes on the wire,
    `hint` says what the person can do, `fields` are further members of the answer. A message never
    holds a secret, a driver's text or a traceback: it is shown as it stands.
    """

    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"
    hint: ClassVar[str] = ""

    def __init__(self, message: str = "", **fields: Any) -> None:
        self.message = message or (self.__doc__ or self.title).strip().splitlines()[0]
        self.fields = fields
        super().__init__(self.message)


class NotFound(FelixError):
    """Nothing with this id exists here."""

    code = "not_found"
    title = "Not found"
    hint = "Check the id; an object of another tenant answers the same."


class InvalidInput(FelixError):
    """The request cannot be understood as it was sent."""

    code = "invalid_input"
    title = "Invalid input"


class Forbidden(FelixError):
    """This is not yours to do."""

    code = "forbidden"
    title = "Forbidden"


class Unauthenticated(FelixError):
    """A valid credential is needed."""

    code = "unauthenticated"
    title = "Unauthenticated"
    hint = "Send a key as Authorization: Bearer fx_..."


class Unavailable(FelixError):
    """A part that this needs cannot be reached now."""

    code = "unavailable"
    title = "Unavailable"
    hint = "Try again; /ready says which part is missing."
