"""The controls around a call, in order. Check before you ask (L8).

A person is asked only about what all others allow.

Front half: the arguments first, since nothing else can judge a call it cannot read; limits before
approval, so that nobody reads evidence of a call that may not run. Behind the call: the window the
model sees (agents/core/tools/window).
"""

from agents.core.controls.approval import approval
from agents.core.controls.arguments import arguments
from agents.core.controls.base import Stage
from agents.core.controls.limits import limits

FRONT_HALF: tuple[Stage, ...] = (arguments, limits, approval)

__all__ = ["FRONT_HALF"]
