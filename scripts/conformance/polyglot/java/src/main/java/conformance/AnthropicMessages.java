package conformance;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.BadRequestException;
import com.anthropic.errors.NotFoundException;
import com.anthropic.errors.PaymentRequiredException;
import com.anthropic.errors.RateLimitException;
import com.anthropic.errors.UnauthorizedException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** anthropic-java. */
final class AnthropicMessages implements Client {
  @Override
  public String name() {
    return "anthropic-java";
  }

  @Override
  public String version() {
    return Versions.of("anthropic-java-core");
  }

  @Override
  public String api() {
    return "messages";
  }

  @Override
  public Class<? extends Exception> exceptionOf(int status) {
    return switch (status) {
      case 400 -> BadRequestException.class;
      case 401 -> UnauthorizedException.class;
      case 402 -> PaymentRequiredException.class;
      case 404 -> NotFoundException.class;
      case 429 -> RateLimitException.class;
      default -> throw new IllegalArgumentException("status " + status);
    };
  }

  private static AnthropicClient connect(Target target) {
    return AnthropicOkHttpClient.builder().baseUrl(target.address()).apiKey(target.key()).build();
  }

  private static MessageCreateParams.Builder ask(Target target) {
    return MessageCreateParams.builder()
        .model(target.model())
        .maxTokens(1024)
        .addUserMessage(Cases.QUESTION);
  }

  @Override
  public String create(Target target) {
    return textOf(connect(target).messages().create(ask(target).build()));
  }

  @Override
  public City extract(Target target) {
    return connect(target)
        .messages()
        .create(ask(target).outputConfig(City.class).build())
        .content()
        .stream()
        .flatMap(block -> block.text().stream())
        .map(text -> text.text())
        .findFirst()
        .orElseThrow();
  }

  @Override
  public Streamed stream(Target target) {
    Message message = accumulate(target, ask(target).build());
    String finish = message.stopReason().map(Object::toString).orElse("");
    return new Streamed(textOf(message), finish);
  }

  @Override
  public String useTool(Target target) {
    return finish(target, params -> connect(target).messages().create(params));
  }

  @Override
  public String streamTool(Target target) {
    return finish(target, params -> accumulate(target, params));
  }

  private static Message accumulate(Target target, MessageCreateParams params) {
    MessageAccumulator accumulator = MessageAccumulator.create();
    try (StreamResponse<RawMessageStreamEvent> stream =
        connect(target).messages().createStreaming(params)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.message();
  }

  private static String finish(Target target, Function<MessageCreateParams, Message> turn) {
    MessageCreateParams.Builder params = ask(target).addTool(WEATHER);
    Message message = turn.apply(params.build());
    List<ContentBlockParam> results =
        message.content().stream()
            .flatMap(block -> block.toolUse().stream())
            .map(AnthropicMessages::answer)
            .toList();
    Cases.check(results.size() == 1, results.size() + " calls");
    params.addMessage(message).addUserMessageOfContentBlockParams(results);
    return textOf(turn.apply(params.build()));
  }

  private static ContentBlockParam answer(ToolUseBlock call) {
    return ContentBlockParam.ofToolResult(
        ToolResultBlockParam.builder()
            .toolUseId(call.id())
            .content(call._input().convert(GetWeather.class).run())
            .build());
  }

  private static final Tool WEATHER =
      Tool.builder()
          .name("get_weather")
          .description("Returns the weather of a city.")
          .inputSchema(
              Tool.InputSchema.builder()
                  .properties(JsonValue.from(Map.of("city", Map.of("type", "string"))))
                  .required(List.of("city"))
                  .build())
          .build();

  private static String textOf(Message message) {
    return message.content().stream()
        .flatMap(block -> block.text().stream())
        .map(text -> text.text())
        .collect(Collectors.joining());
  }
}
