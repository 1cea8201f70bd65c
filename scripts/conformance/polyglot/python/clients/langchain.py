"""LangChain: langchain-openai in both of its modes, langchain-anthropic."""

from __future__ import annotations

from typing import Mapping

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from clients.langchain_turns import LangChain
from target import Client, Target

openai_errors: Mapping[int, type[Exception]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    402: openai.APIStatusError,
    404: openai.NotFoundError,
    429: openai.RateLimitError,
}

anthropic_errors: Mapping[int, type[Exception]] = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    402: anthropic.PaymentRequiredError,
    404: anthropic.NotFoundError,
    429: anthropic.RateLimitError,
}


def connect_chat(target: Target) -> ChatOpenAI:
    return ChatOpenAI(model=target.model, base_url=f"{target.address}/v1", api_key=target.key)


def connect_responses(target: Target) -> ChatOpenAI:
    return ChatOpenAI(
        model=target.model,
        base_url=f"{target.address}/v1",
        api_key=target.key,
        use_responses_api=True,
    )


def connect_anthropic(target: Target) -> ChatAnthropic:
    return ChatAnthropic(model=target.model, base_url=target.address, api_key=target.key)


clients: list[Client] = [
    LangChain("langchain-openai", "chat", connect_chat, openai_errors),
    LangChain("langchain-openai", "responses", connect_responses, openai_errors),
    LangChain("langchain-anthropic", "messages", connect_anthropic, anthropic_errors),
]
