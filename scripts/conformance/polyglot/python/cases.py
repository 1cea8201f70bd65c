"""The cases that every client passes through."""

from __future__ import annotations

import os
import time
from typing import Callable

from target import City, Client, Target, check

greeting = os.environ["CONFORMANCE_TEXT"]
tool_answer = "The result: 21 degrees in Zürich 1."
city = City(name="Zürich 1")

max_seconds = 30
"""Longer than any client waits that retries a request twice."""


def run_case(client: Client, case: str, target: Target) -> str:
    """Returns a detail. Raises an exception if the case fails."""
    return cases[case](client, target)


def create(client: Client, target: Target) -> str:
    return expect_equal(client.create(target), greeting)


def stream(client: Client, target: Target) -> str:
    streamed = client.stream(target)
    expect_equal(streamed.text, greeting)
    check(streamed.finish is not None, lambda: "the stream has no finish reason")
    return f"finish: {streamed.finish}"


def tools(client: Client, target: Target) -> str:
    return expect_equal(client.use_tool(target), tool_answer)


def streamed_tools(client: Client, target: Target) -> str:
    return expect_equal(client.stream_tool(target), tool_answer)


def structured(client: Client, target: Target) -> str:
    return expect_equal(client.extract(target), city)


def status(expected: int) -> Callable[[Client, Target], str]:
    def run(client: Client, target: Target) -> str:
        started = time.monotonic()
        try:
            text = client.create(target)
        except Exception as error:
            seconds = time.monotonic() - started
            check(
                isinstance(error, client.errors[expected]),
                lambda: f"not {client.errors[expected].__name__} but {describe(error)}",
            )
            check(seconds < max_seconds, lambda: f"{seconds:.0f} s until {describe(error)}")
            return describe(error)
        raise AssertionError(f"no exception, but the text {text!r}")

    return run


def cut(client: Client, target: Target) -> str:
    try:
        streamed = client.stream(target)
    except Exception as error:
        return f"raises {describe(error)}"
    check(streamed.finish in (None, "failed"), lambda: f"looks complete: {streamed.finish}")
    return f"no exception, finish: {streamed.finish}"


def count(client: Client, target: Target) -> str:
    tokens = client.count(target)
    check(tokens > 0, lambda: f"{tokens} tokens")
    return f"{tokens} tokens"


def list_models(client: Client, target: Target) -> str:
    names = client.list_models(target)
    check(target.model in names, lambda: f"{target.model} is not in the list")
    return f"{len(names)} models"


def embed(client: Client, target: Target) -> str:
    return expect_equal(client.embed(target), [[0.5, 1.0], [0.5, 2.0]])


def expect_equal(actual: object, expected: object) -> str:
    check(actual == expected, lambda: f"{actual!r}, not {expected!r}")
    return ""


def describe(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}"


cases: dict[str, Callable[[Client, Target], str]] = {
    "create": create,
    "stream": stream,
    "tools": tools,
    "tools-streamed": streamed_tools,
    "reasoning": tools,
    "reasoning-streamed": streamed_tools,
    "structured": structured,
    "400": status(400),
    "401": status(401),
    "402": status(402),
    "404": status(404),
    "429": status(429),
    "cut": cut,
    "count": count,
    "list": list_models,
    "embed": embed,
}

optional = {"count": "count", "list": "list_models", "embed": "embed"}
"""The method of a client that a case needs, where only some clients have it."""

embed_kinds = ("google", "openai")
"""The kinds of upstream that embed."""


def applies(client: Client, case: str, kind: str) -> bool:
    has_method = case not in optional or hasattr(client, optional[case])
    return has_method and (case != "embed" or kind in embed_kinds)


scenarios: dict[str, str] = {
    "create": "say",
    "stream": "say",
    "tools": "tool",
    "tools-streamed": "tool",
    "reasoning": "think",
    "reasoning-streamed": "think",
    "structured": "structured",
    "400": "refuse",
    "401": "say",
    "402": "say",
    "404": "missing",
    "429": "rate-limited",
    "cut": "cut",
    "count": "say",
    "list": "say",
    "embed": "embed",
}
"""The scenario of the upstream for each case. No model is named `missing`."""
