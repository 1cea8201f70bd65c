"""The turns of LangChain, which all of its packages share."""

from __future__ import annotations

from importlib.metadata import version
from typing import Callable, Mapping

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from target import City, Streamed, Target, get_weather, question

weather_tool = tool(get_weather)


class LangChain:
    def __init__(
        self,
        package: str,
        api: str,
        connect: Callable[[Target], BaseChatModel],
        errors: Mapping[int, type[Exception]],
    ) -> None:
        self.name = package
        self.version = version(package)
        self.api = api
        self.connect = connect
        self.errors = errors

    def create(self, target: Target) -> str:
        return self.connect(target).invoke(question).text

    def stream(self, target: Target) -> Streamed:
        whole = None
        for chunk in self.connect(target).stream(question):
            whole = chunk if whole is None else whole + chunk
        return Streamed(whole.text, read_finish(whole))

    def use_tool(self, target: Target) -> str:
        model = self.connect(target).bind_tools([weather_tool])
        return finish(lambda messages: model.invoke(messages))

    def stream_tool(self, target: Target) -> str:
        model = self.connect(target).bind_tools([weather_tool])

        def turn(messages: list) -> AIMessage:
            first, *rest = model.stream(messages)
            return sum(rest, first)

        return finish(turn)

    def extract(self, target: Target) -> City:
        return self.connect(target).with_structured_output(City, method="json_schema").invoke(question)


def finish(turn: Callable[[list], AIMessage]) -> str:
    messages = [HumanMessage(question)]
    answer = turn(messages)
    [call] = answer.tool_calls
    result = weather_tool.invoke(call["args"])
    messages += [answer, ToolMessage(result, tool_call_id=call["id"])]
    return turn(messages).text


def read_finish(message: AIMessage) -> str | None:
    metadata = message.response_metadata
    keys = ("finish_reason", "stop_reason", "status")
    return next((metadata[key] for key in keys if metadata.get(key)), None)
