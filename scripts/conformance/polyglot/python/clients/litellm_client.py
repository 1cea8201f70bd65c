"""LiteLLM as a client: chat completions, responses and messages."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Mapping

import litellm

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
    400: litellm.BadRequestError,
    401: litellm.AuthenticationError,
    402: litellm.APIError,
    404: litellm.NotFoundError,
    429: litellm.RateLimitError,
}

function_tool = {
    "type": "function",
    "function": {"name": tool_name, "description": tool_description, "parameters": tool_schema},
}


class Completion:
    """`litellm.completion`, whose prefix of the model decides the API that it calls."""

    name = "litellm"
    version = version("litellm")
    errors = errors

    def __init__(self, api: str, prefix: str, path: str) -> None:
        self.api = api
        if api == "messages":
            self.errors = {**errors, 402: litellm.PaymentRequiredError}
        self.prefix = prefix
        self.path = path

    def settings(self, target: Target) -> dict:
        return {
            "model": f"{self.prefix}/{target.model}",
            "api_base": target.address + self.path,
            "api_key": target.key,
        }

    def create(self, target: Target) -> str:
        messages = [{"role": "user", "content": question}]
        answer = litellm.completion(messages=messages, **self.settings(target))
        return answer.choices[0].message.content

    def stream(self, target: Target) -> Streamed:
        messages = [{"role": "user", "content": question}]
        text, finish = "", None
        for chunk in litellm.completion(messages=messages, stream=True, **self.settings(target)):
            text += chunk.choices[0].delta.content or ""
            finish = chunk.choices[0].finish_reason or finish
        return Streamed(text, finish)

    def use_tool(self, target: Target) -> str:
        def turn(messages: list):
            return litellm.completion(
                messages=messages, tools=[function_tool], **self.settings(target)
            )

        return finish_chat(turn)

    def stream_tool(self, target: Target) -> str:
        def turn(messages: list):
            chunks = litellm.completion(
                messages=messages, tools=[function_tool], stream=True, **self.settings(target)
            )
            return litellm.stream_chunk_builder(list(chunks), messages=messages)

        return finish_chat(turn)

    def extract(self, target: Target) -> City:
        messages = [{"role": "user", "content": question}]
        answer = litellm.completion(
            messages=messages, response_format=City, **self.settings(target)
        )
        return City.model_validate_json(answer.choices[0].message.content)


def finish_chat(turn) -> str:
    messages = [{"role": "user", "content": question}]
    message = turn(messages).choices[0].message
    [call] = message.tool_calls
    result = get_weather(**json.loads(call.function.arguments))
    # LiteLLM puts fields that it does not know into one that OpenAI does not know.
    past = message.model_dump(exclude={"provider_specific_fields"}, exclude_none=True)
    messages += [past, {"role": "tool", "tool_call_id": call.id, "content": result}]
    return turn(messages).choices[0].message.content


class Responses:
    """`litellm.responses`."""

    name = "litellm"
    version = version("litellm")
    api = "responses"
    errors = errors

    tools = [{"type": "function", "strict": True, **function_tool["function"]}]

    def settings(self, target: Target) -> dict:
        # LiteLLM calls models that it does not know without `stream`, and plays the stream itself.
        facts = {"litellm_provider": "openai", "supports_native_streaming": True}
        litellm.register_model({target.model: facts})
        return {
            "model": f"openai/{target.model}",
            "api_base": f"{target.address}/v1",
            "api_key": target.key,
        }

    def create(self, target: Target) -> str:
        return litellm.responses(input=question, **self.settings(target)).output_text

    def stream(self, target: Target) -> Streamed:
        text, finish = "", None
        for event in litellm.responses(input=question, stream=True, **self.settings(target)):
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                finish = event.response.status
        return Streamed(text, finish)

    def use_tool(self, target: Target) -> str:
        def turn(items: list):
            return litellm.responses(
                input=items, tools=self.tools, store=False, **self.settings(target)
            )

        return finish_responses(turn)

    def stream_tool(self, target: Target) -> str:
        def turn(items: list):
            events = litellm.responses(
                input=items, tools=self.tools, store=False, stream=True, **self.settings(target)
            )
            [last] = [event for event in events if event.type == "response.completed"]
            return last.response

        return finish_responses(turn)

    def extract(self, target: Target) -> City:
        answer = litellm.responses(input=question, text_format=City, **self.settings(target))
        return City.model_validate_json(answer.output_text)


def finish_responses(turn) -> str:
    items = [{"role": "user", "content": question}]
    response = turn(items)
    [call] = [item for item in response.output if item.type == "function_call"]
    items += [item.model_dump(exclude_none=True) for item in response.output]
    result = get_weather(**json.loads(call.arguments))
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    return turn(items).output_text


clients: list[Client] = [
    Completion("chat", "openai", "/v1"),
    Completion("messages", "anthropic", ""),
    Responses(),
]
