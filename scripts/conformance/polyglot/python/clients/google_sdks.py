"""The google-genai package, and LangChain's package on top of it."""

from __future__ import annotations

from importlib.metadata import version

from google import genai
from google.genai import errors, types
from langchain_google_genai import ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings
from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

from clients.langchain_turns import LangChain
from target import City, Client, Streamed, Target, get_weather, question

thinking = types.GenerateContentConfig(
    tools=[get_weather],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    thinking_config=types.ThinkingConfig(include_thoughts=True),
)


def connect(target: Target) -> genai.Client:
    """A client closes its connections once nothing holds it."""
    return genai.Client(
        api_key=target.key, http_options=types.HttpOptions(base_url=target.address)
    )


class Gemini:
    name = "google-genai-python"
    version = version("google-genai")
    api = "gemini"
    errors = {status: errors.ClientError for status in (400, 401, 402, 404, 429)}

    def create(self, target: Target) -> str:
        client = connect(target)
        return client.models.generate_content(model=target.model, contents=question).text

    def stream(self, target: Target) -> Streamed:
        client = connect(target)
        chunks = list(
            client.models.generate_content_stream(model=target.model, contents=question)
        )
        text = "".join(chunk.text or "" for chunk in chunks)
        return Streamed(text, read_finish(chunks[-1]))

    def use_tool(self, target: Target) -> str:
        """The package calls the function and asks again by itself."""
        config = types.GenerateContentConfig(tools=[get_weather])
        client = connect(target)
        return client.models.generate_content(
            model=target.model, contents=question, config=config
        ).text

    def stream_tool(self, target: Target) -> str:
        """A chat keeps the history, with its thoughts and signatures."""
        client = connect(target)
        chat = client.chats.create(model=target.model, config=thinking)
        parts = [
            part
            for chunk in chat.send_message_stream(question)
            for part in chunk.candidates[0].content.parts or []
        ]
        [call] = [part.function_call for part in parts if part.function_call]
        result = types.Part.from_function_response(
            name=call.name, response={"result": get_weather(**call.args)}
        )
        return "".join(chunk.text or "" for chunk in chat.send_message_stream(result))

    def extract(self, target: Target) -> City:
        config = types.GenerateContentConfig(
            response_mime_type="application/json", response_schema=City
        )
        client = connect(target)
        return client.models.generate_content(
            model=target.model, contents=question, config=config
        ).parsed

    def count(self, target: Target) -> int:
        client = connect(target)
        return client.models.count_tokens(model=target.model, contents=question).total_tokens

    def list_models(self, target: Target) -> list[str]:
        client = connect(target)
        return [model.name.removeprefix("models/") for model in client.models.list()]

    def embed(self, target: Target) -> list[list[float]]:
        client = connect(target)
        answer = client.models.embed_content(
            model=target.model,
            contents=["a", "b"],
            config=types.EmbedContentConfig(output_dimensionality=2),
        )
        return [embedding.values for embedding in answer.embeddings]


def read_finish(chunk: types.GenerateContentResponse) -> str | None:
    reason = chunk.candidates[0].finish_reason if chunk.candidates else None
    return reason.value if reason else None


def connect_langchain(target: Target) -> ChatGoogleGenerativeAI:
    return ChatGoogleGenerativeAI(
        model=target.model, base_url=target.address, api_key=target.key, max_retries=1
    )


class LangChainGemini(LangChain):
    def embed(self, target: Target) -> list[list[float]]:
        return GoogleGenerativeAIEmbeddings(
            model=target.model, base_url=target.address, api_key=target.key
        ).embed_documents(["a", "b"], output_dimensionality=2)


langchain_errors = {
    status: ChatGoogleGenerativeAIError for status in (400, 401, 402, 404, 429)
}

clients: list[Client] = [
    Gemini(),
    LangChainGemini("langchain-google-genai", "gemini", connect_langchain, langchain_errors),
]
