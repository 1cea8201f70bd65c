package conformance;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.function.Function;

/** openai-java with chat completions. */
final class OpenAiChat implements Client {
  @Override
  public String name() {
    return "openai-java";
  }

  @Override
  public String version() {
    return Versions.of("openai-java-core");
  }

  @Override
  public String api() {
    return "chat";
  }

  @Override
  public Class<? extends Exception> exceptionOf(int status) {
    return OpenAiErrors.exceptionOf(status);
  }

  static OpenAIClient connect(Target target) {
    return OpenAIOkHttpClient.builder().baseUrl(target.address() + "/v1").apiKey(target.key()).build();
  }

  private static ChatCompletionCreateParams.Builder ask(Target target) {
    return ChatCompletionCreateParams.builder()
        .model(target.model())
        .addUserMessage(Cases.QUESTION);
  }

  @Override
  public String create(Target target) {
    return textOf(connect(target).chat().completions().create(ask(target).build()));
  }

  @Override
  public City extract(Target target) {
    return connect(target)
        .chat()
        .completions()
        .create(ask(target).responseFormat(City.class).build())
        .choices()
        .get(0)
        .message()
        .content()
        .orElseThrow();
  }

  @Override
  public Streamed stream(Target target) {
    ChatCompletion completion = accumulate(target, ask(target).build());
    return new Streamed(textOf(completion), completion.choices().get(0).finishReason().toString());
  }

  @Override
  public String useTool(Target target) {
    return finish(target, params -> connect(target).chat().completions().create(params));
  }

  @Override
  public String streamTool(Target target) {
    return finish(target, params -> accumulate(target, params));
  }

  private static ChatCompletion accumulate(Target target, ChatCompletionCreateParams params) {
    ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> stream =
        connect(target).chat().completions().createStreaming(params)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.chatCompletion();
  }

  private static String finish(
      Target target, Function<ChatCompletionCreateParams, ChatCompletion> turn) {
    ChatCompletionCreateParams.Builder params = ask(target).addTool(GetWeather.class);
    ChatCompletionMessage message = turn.apply(params.build()).choices().get(0).message();
    Cases.check(message.toolCalls().orElseThrow().size() == 1, "not one call: " + message);
    ChatCompletionMessageFunctionToolCall call = message.toolCalls().get().get(0).asFunction();
    params
        .addMessage(message)
        .addMessage(
            ChatCompletionToolMessageParam.builder()
                .toolCallId(call.id())
                .content(call.function().arguments(GetWeather.class).run())
                .build());
    return textOf(turn.apply(params.build()));
  }

  private static String textOf(ChatCompletion completion) {
    return completion.choices().get(0).message().content().orElse("");
  }
}
