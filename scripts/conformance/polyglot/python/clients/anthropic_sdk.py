"""The anthropic package."""

from __future__ import annotations

import anthropic

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

max_tokens = 1024


def connect(target: Target) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=target.address, api_key=target.key)


class Messages:
    name = "anthropic-python"
    version = anthropic.__version__
    api = "messages"
    errors = {
        400: anthropic.BadRequestError,
        401: anthropic.AuthenticationError,
        402: anthropic.PaymentRequiredError,
        404: anthropic.NotFoundError,
        429: anthropic.RateLimitError,
    }

    tools = [
        {"name": tool_name, "description": tool_description, "input_schema": tool_schema},
    ]

    def create(self, target: Target) -> str:
        message = connect(target).messages.create(
            model=target.model,
            max_tokens=max_tokens,
            messages=[{"role": "user", "content": question}],
        )
        return to_text(message)

    def stream(self, target: Target) -> Streamed:
        with connect(target).messages.stream(
            model=target.model,
            max_tokens=max_tokens,
            messages=[{"role": "user", "content": question}],
        ) as stream:
            text = "".join(stream.text_stream)
            return Streamed(text, stream.get_final_message().stop_reason)

    def use_tool(self, target: Target) -> str:
        client = connect(target)
        messages = [{"role": "user", "content": question}]

        def turn():
            return client.messages.create(
                model=target.model, max_tokens=max_tokens, messages=messages, tools=self.tools
            )

        return finish(turn, messages)

    def stream_tool(self, target: Target) -> str:
        client = connect(target)
        messages = [{"role": "user", "content": question}]

        def turn():
            with client.messages.stream(
                model=target.model, max_tokens=max_tokens, messages=messages, tools=self.tools
            ) as stream:
                return stream.get_final_message()

        return finish(turn, messages)

    def extract(self, target: Target) -> City:
        message = connect(target).messages.parse(
            model=target.model,
            max_tokens=max_tokens,
            messages=[{"role": "user", "content": question}],
            output_format=City,
        )
        return message.parsed_output


def finish(turn, messages: list) -> str:
    message = turn()
    [call] = [block for block in message.content if block.type == "tool_use"]
    result = {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": get_weather(**call.input),
    }
    messages.append({"role": "assistant", "content": message.content})
    messages.append({"role": "user", "content": [result]})
    return to_text(turn())


def to_text(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


clients: list[Client] = [Messages()]
