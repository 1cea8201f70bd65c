"""pydantic-ai with its three models that can call the gateway."""

from __future__ import annotations

from importlib.metadata import version
from typing import Callable

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelRequestRejectedError,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from target import City, Client, Streamed, Target, check, get_weather, question


class PydanticAi:
    name = "pydantic-ai"
    version = version("pydantic-ai-slim")
    errors = {
        400: ModelRequestRejectedError,
        401: ModelAuthenticationError,
        402: ModelHTTPError,
        404: ModelNotFoundError,
        429: ModelRateLimitError,
    }

    def __init__(self, api: str, connect: Callable[[Target], Model]) -> None:
        self.api = api
        self.connect = connect

    def create(self, target: Target) -> str:
        return Agent(self.connect(target)).run_sync(question).output

    def stream(self, target: Target) -> Streamed:
        run = Agent(self.connect(target)).run_stream_sync(question)
        text = "".join(run.stream_text(delta=True))
        return Streamed(text, run.response.finish_reason)

    def use_tool(self, target: Target) -> str:
        agent = Agent(self.connect(target), tools=[get_weather])
        return agent.run_sync(question).output

    def stream_tool(self, target: Target) -> str:
        agent = Agent(self.connect(target), tools=[get_weather])
        return agent.run_stream_sync(question).get_output()

    def extract(self, target: Target) -> City:
        """As the arguments of a tool, which is the default, and by a schema where the model has it."""
        by_tool = Agent(self.connect(target), output_type=City).run_sync(question).output
        if self.api == "messages":
            return by_tool
        by_schema = Agent(self.connect(target), output_type=NativeOutput(City)).run_sync(question)
        check(by_schema.output == by_tool, lambda: f"{by_schema.output!r}, not {by_tool!r}")
        return by_tool


def openai_provider(target: Target) -> OpenAIProvider:
    return OpenAIProvider(base_url=f"{target.address}/v1", api_key=target.key)


def connect_chat(target: Target) -> Model:
    return OpenAIChatModel(target.model, provider=openai_provider(target))


def connect_responses(target: Target) -> Model:
    # Without it the reasoning of a model with an unknown name is sent back as text.
    profile = OpenAIModelProfile(openai_supports_encrypted_reasoning_content=True)
    return OpenAIResponsesModel(target.model, provider=openai_provider(target), profile=profile)


def connect_anthropic(target: Target) -> Model:
    provider = AnthropicProvider(base_url=target.address, api_key=target.key)
    return AnthropicModel(target.model, provider=provider)


clients: list[Client] = [
    PydanticAi("chat", connect_chat),
    PydanticAi("responses", connect_responses),
    PydanticAi("messages", connect_anthropic),
]
