package conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** LangChain4j with its OpenAI models. */
final class LangChain4jChat implements Client {
  private static final ToolSpecification WEATHER =
      ToolSpecification.builder()
          .name("get_weather")
          .description("Returns the weather of a city.")
          .parameters(
              JsonObjectSchema.builder().addStringProperty("city").required("city").build())
          .build();

  @Override
  public String name() {
    return "langchain4j";
  }

  @Override
  public String version() {
    return Versions.of("langchain4j-open-ai");
  }

  @Override
  public String api() {
    return "chat";
  }

  @Override
  public Class<? extends Exception> exceptionOf(int status) {
    return switch (status) {
      case 401 -> AuthenticationException.class;
      case 404 -> ModelNotFoundException.class;
      case 429 -> RateLimitException.class;
      default -> InvalidRequestException.class;
    };
  }

  @Override
  public String create(Target target) {
    return complete(target, ask().build()).aiMessage().text();
  }

  @Override
  public City extract(Target target) {
    JsonObjectSchema schema =
        JsonObjectSchema.builder().addStringProperty("name").required("name").build();
    ResponseFormat format =
        ResponseFormat.builder()
            .type(ResponseFormatType.JSON)
            .jsonSchema(JsonSchema.builder().name("city").rootElement(schema).build())
            .build();
    return parse(complete(target, ask().responseFormat(format).build()).aiMessage().text(), City.class);
  }

  @Override
  public Streamed stream(Target target) {
    ChatResponse response = stream(target, ask().build());
    Object finish = response.finishReason();
    return new Streamed(response.aiMessage().text(), finish == null ? "" : finish.toString());
  }

  @Override
  public String useTool(Target target) {
    return finish(request -> complete(target, request));
  }

  @Override
  public String streamTool(Target target) {
    return finish(request -> stream(target, request));
  }

  private static ChatRequest.Builder ask() {
    return ChatRequest.builder().messages(UserMessage.from(Cases.QUESTION));
  }

  private static ChatResponse complete(Target target, ChatRequest request) {
    return OpenAiChatModel.builder()
        .baseUrl(target.address() + "/v1")
        .apiKey(target.key())
        .modelName(target.model())
        .build()
        .chat(request);
  }

  private static ChatResponse stream(Target target, ChatRequest request) {
    OpenAiStreamingChatModel model =
        OpenAiStreamingChatModel.builder()
            .baseUrl(target.address() + "/v1")
            .apiKey(target.key())
            .modelName(target.model())
            .build();
    CompletableFuture<ChatResponse> response = new CompletableFuture<>();
    model.chat(
        request,
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String text) {}

          @Override
          public void onCompleteResponse(ChatResponse complete) {
            response.complete(complete);
          }

          @Override
          public void onError(Throwable error) {
            response.completeExceptionally(error);
          }
        });
    return response.join();
  }

  private static String finish(Function<ChatRequest, ChatResponse> turn) {
    List<ChatMessage> messages = new ArrayList<>(List.of(UserMessage.from(Cases.QUESTION)));
    ChatRequest.Builder request = ChatRequest.builder().toolSpecifications(WEATHER);
    AiMessage message = turn.apply(request.messages(messages).build()).aiMessage();
    List<ToolExecutionRequest> calls = message.toolExecutionRequests();
    Cases.check(calls.size() == 1, calls.size() + " calls");
    String result = parse(calls.get(0).arguments(), GetWeather.class).run();
    messages.add(message);
    messages.add(ToolExecutionResultMessage.from(calls.get(0), result));
    return turn.apply(request.messages(messages).build()).aiMessage().text();
  }

  private static <T> T parse(String json, Class<T> type) {
    try {
      return new ObjectMapper().readValue(json, type);
    } catch (JsonProcessingException error) {
      throw new CompletionException(error);
    }
  }
}
