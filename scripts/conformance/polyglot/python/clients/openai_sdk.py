"""The openai package: chat completions and responses."""

from __future__ import annotations

import json
from typing import Mapping

import openai

from target import (
    City,
    Client,
    Streamed,
    Target,
    get_weather,
    question,
    tool_description,
    tool_name,
    tool_schema,
)

errors: Mapping[int, type[Exception]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    # The package has no class of its own for this status.
    402: openai.APIStatusError,
    404: openai.NotFoundError,
    429: openai.RateLimitError,
}


def connect(target: Target) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{target.address}/v1", api_key=target.key)


class Chat:
    name = "openai-python"
    version = openai.__version__
    api = "chat"
    errors = errors

    tools = [
        {
            "type": "function",
            "function": {
                "name": tool_name,
                "description": tool_description,
                "parameters": tool_schema,
                "strict": True,
            },
        }
    ]

    def create(self, target: Target) -> str:
        completion = connect(target).chat.completions.create(
            model=target.model, messages=[{"role": "user", "content": question}]
        )
        return completion.choices[0].message.content

    def stream(self, target: Target) -> Streamed:
        text, finish = "", None
        messages = [{"role": "user", "content": question}]
        with connect(target).chat.completions.stream(
            model=target.model, messages=messages
        ) as stream:
            for event in stream:
                if event.type == "content.delta":
                    text += event.delta
                if event.type == "chunk" and event.chunk.choices:
                    finish = event.chunk.choices[0].finish_reason or finish
        return Streamed(text, finish)

    def use_tool(self, target: Target) -> str:
        client = connect(target)
        messages = [{"role": "user", "content": question}]

        def turn():
            return client.chat.completions.create(
                model=target.model, messages=messages, tools=self.tools
            )

        return finish_chat(turn, messages)

    def stream_tool(self, target: Target) -> str:
        client = connect(target)
        messages = [{"role": "user", "content": question}]

        def turn():
            with client.chat.completions.stream(
                model=target.model, messages=messages, tools=self.tools
            ) as stream:
                return stream.get_final_completion()

        return finish_chat(turn, messages)

    def extract(self, target: Target) -> City:
        completion = connect(target).chat.completions.parse(
            model=target.model,
            messages=[{"role": "user", "content": question}],
            response_format=City,
        )
        return completion.choices[0].message.parsed


def finish_chat(turn, messages: list) -> str:
    message = turn().choices[0].message
    [call] = message.tool_calls
    # The stream helper adds fields to the message that OpenAI does not know.
    unknown = {"parsed": True, "tool_calls": {0: {"index": True, "function": {"parsed_arguments"}}}}
    messages.append(message.model_dump(exclude=unknown, exclude_none=True))
    result = get_weather(**json.loads(call.function.arguments))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return turn().choices[0].message.content


class Responses:
    name = "openai-python"
    version = openai.__version__
    api = "responses"
    errors = errors

    tools = [
        {
            "type": "function",
            "name": tool_name,
            "description": tool_description,
            "parameters": tool_schema,
            "strict": True,
        }
    ]

    def create(self, target: Target) -> str:
        return connect(target).responses.create(model=target.model, input=question).output_text

    def stream(self, target: Target) -> Streamed:
        text, finish = "", None
        with connect(target).responses.stream(model=target.model, input=question) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
                if event.type in ("response.completed", "response.incomplete", "response.failed"):
                    finish = event.response.status
        return Streamed(text, finish)

    def use_tool(self, target: Target) -> str:
        client = connect(target)
        items = [{"role": "user", "content": question}]

        def turn():
            return client.responses.create(
                model=target.model, input=items, tools=self.tools, store=False
            )

        return finish_responses(turn, items)

    def stream_tool(self, target: Target) -> str:
        client = connect(target)
        items = [{"role": "user", "content": question}]

        def turn():
            with client.responses.stream(
                model=target.model, input=items, tools=self.tools, store=False
            ) as stream:
                return stream.get_final_response()

        return finish_responses(turn, items)

    def extract(self, target: Target) -> City:
        response = connect(target).responses.parse(
            model=target.model, input=question, text_format=City
        )
        return response.output_parsed


def finish_responses(turn, items: list) -> str:
    response = turn()
    [call] = [item for item in response.output if item.type == "function_call"]
    items += response.output
    result = get_weather(**json.loads(call.arguments))
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    return turn().output_text


clients: list[Client] = [Chat(), Responses()]
