"""What the cases ask, of whom, and what the upstream answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Protocol

from pydantic import BaseModel


@dataclass(frozen=True)
class Target:
    """A model behind the gateway."""

    address: str
    """The address of the gateway, without /v1. It differs for every case."""
    key: str
    model: str


@dataclass(frozen=True)
class Streamed:
    """A stream that ended without an exception."""

    text: str
    finish: str | None
    """How the client says that the answer ended. None if it does not say it."""


class Client(Protocol):
    """A client library in one of its modes. The methods raise what the library raises."""

    name: str
    version: str
    api: str
    errors: Mapping[int, type[Exception]]
    """The exception that the library documents for an HTTP status."""

    def create(self, target: Target) -> str:
        """Asks for a text, and returns it."""

    def stream(self, target: Target) -> Streamed:
        """Asks for a text as a stream."""

    def use_tool(self, target: Target) -> str:
        """Offers `get_weather`, answers its call, and returns the text of the second turn."""

    def stream_tool(self, target: Target) -> str:
        """Does the same with two streams."""

    def extract(self, target: Target) -> City:
        """Asks for structured output."""


class City(BaseModel):
    """The structured output."""

    name: str


class GetWeather(BaseModel):
    """The arguments of the tool."""

    city: str


question = "What is the weather in Zürich?"

tool_name = "get_weather"
tool_description = "Returns the weather of a city."
tool_schema = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"21 degrees in {city}"


def check(condition: bool, message: Callable[[], str]) -> None:
    """Fails the case unless the condition holds."""
    if not condition:
        raise AssertionError(message())
