"""Text so far: what is being written and is not in the log yet, kept for a reader that comes in the
middle.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.live.items import Item
from sessions.core.frames import Frame, FrameType, sse_field, text_frame, text_reset_frame

MOST_THREADS = 1000
MOST_RUNS_OF_A_THREAD = 8
DELTAS = (FrameType.TEXT_DELTA, FrameType.THINKING_DELTA)


@dataclass(slots=True)
class _Open:
    """One message. `text` holds what was written of each kind."""

    message_id: str
    text: dict[FrameType, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a message at one moment, as the deltas that give it to a reader."""

    run_id: str
    message_id: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Captured:
    """All text of a thread that is being written, and the number of the last frame in it."""

    number: int
    written: tuple[Written, ...]


class Texts:
    """The open messages of every thread whose text reaches this process. Every method may be called
    from any thread.

    A frame is handed on so that each character goes out once: what was known is cut off a keyframe,
    and what stands behind a gap waits for the next one.
    """

    def __init__(self) -> None:
        # Guards what is written, and that a capture and the frames after it miss and repeat
        # nothing.
        self._lock = threading.Lock()
        self._threads: OrderedDict[int, OrderedDict[str, _Open]] = OrderedDict()
        self._number = 0

    def take(self, thread_id: int, frame: Frame, hand_on: Callable[[Item], None]) -> None:
        """The frame's text is kept, and what is new in it is handed on with its number as its
        place.

        Args:
            hand_on: Called under the lock, so that items keep their order; it returns at once.
        """
        with self._lock:
            said = self._keep(thread_id, frame)
            if said is None:
                return
            self._number += 1
            hand_on(_item(said, frame["run_id"], self._number))

    def capture(self, thread_id: int) -> Captured:
        """Return the thread's text so far; items with a higher number are the ones that are missing
        in it.
        """
        with self._lock:
            runs = self._threads.get(thread_id) or OrderedDict[str, _Open]()
            written = [_written(run_id, opened, self._number) for run_id, opened in runs.items()]
            return Captured(self._number, tuple(one for one in written if one.items))

    def forget(self, thread_id: int, run_id: str, message_id: str) -> None:
        """The message is in the log, or was given up: its text is kept no longer."""
        with self._lock:
            runs = self._threads.get(thread_id) or OrderedDict[str, _Open]()
            if run_id in runs and runs[run_id].message_id == message_id:
                del runs[run_id]
            if not runs:
                self._threads.pop(thread_id, None)

    def _keep(self, thread_id: int, frame: Frame) -> Frame | None:
        """Return what readers are to be told, or None."""
        runs = self._runs(thread_id)
        run_id, message_id = frame["run_id"], frame["message_id"]
        known = runs.get(run_id)
        is_open = known is not None and known.message_id == message_id
        if known is None or not is_open:
            known = runs[run_id] = _Open(message_id)
            while len(runs) > MOST_RUNS_OF_A_THREAD:
                runs.popitem(last=False)
        kind = FrameType(frame["type"])
        if kind is FrameType.TEXT_RESET:
            had_text = any(known.text.values())
            known.text.clear()
            return text_reset_frame(message_id) if had_text else None
        return _kept_delta(known, kind, frame["offset"], frame["text"])

    def _runs(self, thread_id: int) -> OrderedDict[str, _Open]:
        runs = self._threads.setdefault(thread_id, OrderedDict())
        self._threads.move_to_end(thread_id)
        while len(self._threads) > MOST_THREADS:
            self._threads.popitem(last=False)
        return runs


def _kept_delta(opened: _Open, kind: FrameType, offset: int, text: str) -> Frame | None:
    known = opened.text.get(kind, "")
    if offset > len(known):
        return None
    is_same = known[offset:].startswith(text) or text.startswith(known[offset:])
    if not is_same and offset:
        return None
    if not is_same:
        opened.text[kind] = text
        return text_frame(kind, message_id=opened.message_id, offset=0, text=text)
    more = text[len(known) - offset :]
    if not more:
        return None
    opened.text[kind] = known + more
    return text_frame(kind, message_id=opened.message_id, offset=len(known), text=more)


def _item(frame: Frame, run_id: str, number: int) -> Item:
    return Item(
        kind=FrameType(frame["type"]),
        frame=frame,
        data=sse_field(frame),
        run_id=run_id,
        place=(number,),
        message_id=frame["message_id"],
    )


def _written(run_id: str, opened: _Open, number: int) -> Written:
    items = [
        _item(text_frame(kind, message_id=opened.message_id, offset=0, text=text), run_id, number)
        for kind, text in sorted(opened.text.items(), reverse=True)
        if text
    ]
    return Written(run_id, opened.message_id, tuple(items))
