"""A react-like loop on LangGraph and its SQLite saver: an answer and a 1 KB result per step."""

from __future__ import annotations

import argparse
import sqlite3
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from benchmarks.peers.measured import Steps, answer, file_bytes, note


class Full(TypedDict):
    """The messages, stored whole in each checkpoint: the default."""

    messages: Annotated[list[AnyMessage], add_messages]


def _extended(state: list[AnyMessage], writes: list[list[AnyMessage]]) -> list[AnyMessage]:
    return [*state, *(message for write in writes for message in write)]


class Delta(TypedDict):
    """The messages, stored as what each step added."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_extended)]


def _model(state: Any, *, count: int, steps: Steps) -> dict[str, list[AnyMessage]]:
    number = len(steps.wall)
    steps.mark()
    if number >= count:
        return {"messages": [AIMessage("That is all.", id="last")]}
    call = {"id": f"call_{number}", "name": "note", "args": {"number": number}}
    usage = {"input_tokens": 1200, "output_tokens": 30, "total_tokens": 1230}
    said = AIMessage(f"Step {number}.", id=f"msg_{number}", tool_calls=[call], usage_metadata=usage)
    return {"messages": [said]}


def _tool(state: Any) -> dict[str, list[AnyMessage]]:
    call = state["messages"][-1].tool_calls[0]
    number = call["args"]["number"]
    result = ToolMessage(note(number), tool_call_id=call["id"], id=f"res_{number}")
    return {"messages": [result]}


def _next(state: Any) -> str:
    return "tool" if state["messages"][-1].tool_calls else END


def _graph(shape: type, count: int, steps: Steps, saver: SqliteSaver) -> Any:
    graph = StateGraph(shape)
    graph.add_node("model", partial(_model, count=count, steps=steps))
    graph.add_node("tool", _tool)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", _next)
    graph.add_edge("tool", "model")
    return graph.compile(checkpointer=saver)


def main() -> None:
    """One run was measured; the figures are on stdout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--delta", action="store_true")
    parser.add_argument("--directory", type=Path, required=True)
    given = parser.parse_args()
    database = given.directory / "langgraph.sqlite3"
    with SqliteSaver.from_conn_string(str(database)) as saver:
        saver.setup()
        _run(given, saver, Steps(), "warm", 30)
        before, steps = file_bytes(database), Steps()
        _run(given, saver, steps, "measured", given.steps)
    settings = sqlite3.connect(database).execute("PRAGMA journal_mode").fetchone()[0]
    grown = file_bytes(database) - before
    answer(steps, given.steps, grown, version=version("langgraph"), journal=settings)


def _run(given: Any, saver: SqliteSaver, steps: Steps, thread: str, count: int) -> None:
    graph = _graph(Delta if given.delta else Full, count, steps, saver)
    config = {"configurable": {"thread_id": thread}, "recursion_limit": count * 2 + 9}
    asked = {"messages": [HumanMessage("Take notes.", id="first")]}
    # Synchronous, as ours: the step is on disk before the next one begins.
    graph.invoke(asked, config, durability="sync")


if __name__ == "__main__":
    main()
