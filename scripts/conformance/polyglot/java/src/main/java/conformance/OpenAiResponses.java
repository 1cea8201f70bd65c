package conformance;

import com.openai.core.http.StreamResponse;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStreamEvent;
import com.openai.models.responses.StructuredResponseOutputMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** openai-java with responses. */
final class OpenAiResponses implements Client {
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
    return "responses";
  }

  @Override
  public Class<? extends Exception> exceptionOf(int status) {
    return OpenAiErrors.exceptionOf(status);
  }

  private static ResponseCreateParams.Builder ask(Target target) {
    return ResponseCreateParams.builder().model(target.model()).input(Cases.QUESTION).store(false);
  }

  @Override
  public String create(Target target) {
    return textOf(OpenAiChat.connect(target).responses().create(ask(target).build()));
  }

  @Override
  public City extract(Target target) {
    return OpenAiChat.connect(target)
        .responses()
        .create(ask(target).text(City.class).build())
        .output()
        .stream()
        .flatMap(item -> item.message().stream())
        .flatMap(message -> message.content().stream())
        .map(StructuredResponseOutputMessage.Content::asOutputText)
        .findFirst()
        .orElseThrow();
  }

  @Override
  public Streamed stream(Target target) {
    Response response = accumulate(target, ask(target).build());
    return new Streamed(textOf(response), response.status().orElseThrow().toString());
  }

  @Override
  public String useTool(Target target) {
    return finish(target, params -> OpenAiChat.connect(target).responses().create(params));
  }

  @Override
  public String streamTool(Target target) {
    return finish(target, params -> accumulate(target, params));
  }

  private static Response accumulate(Target target, ResponseCreateParams params) {
    ResponseAccumulator accumulator = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> stream =
        OpenAiChat.connect(target).responses().createStreaming(params)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.response();
  }

  private static String finish(Target target, Function<ResponseCreateParams, Response> turn) {
    List<ResponseInputItem> items = new ArrayList<>();
    items.add(
        ResponseInputItem.ofEasyInputMessage(
            EasyInputMessage.builder()
                .role(EasyInputMessage.Role.USER)
                .content(Cases.QUESTION)
                .build()));
    ResponseCreateParams.Builder params = ask(target).addTool(GetWeather.class);
    Response response = turn.apply(params.inputOfResponse(items).build());
    List<ResponseInputItem> results = new ArrayList<>();
    for (ResponseOutputItem item : response.output()) {
      item.reasoning().map(ResponseInputItem::ofReasoning).ifPresent(items::add);
      item.message().map(ResponseInputItem::ofResponseOutputMessage).ifPresent(items::add);
      item.functionCall().map(ResponseInputItem::ofFunctionCall).ifPresent(items::add);
      item.functionCall().map(OpenAiResponses::answer).ifPresent(results::add);
    }
    Cases.check(results.size() == 1, results.size() + " calls");
    items.addAll(results);
    return textOf(turn.apply(params.inputOfResponse(items).build()));
  }

  private static ResponseInputItem answer(ResponseFunctionToolCall call) {
    return ResponseInputItem.ofFunctionCallOutput(
        ResponseInputItem.FunctionCallOutput.builder()
            .callId(call.callId())
            .output(call.arguments(GetWeather.class).run())
            .build());
  }

  private static String textOf(Response response) {
    return response.output().stream()
        .flatMap(item -> item.message().stream())
        .flatMap(message -> message.content().stream())
        .flatMap(content -> content.outputText().stream())
        .map(text -> text.text())
        .collect(Collectors.joining());
  }
}
