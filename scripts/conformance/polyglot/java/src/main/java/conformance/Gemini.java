package conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.genai.Chat;
import com.google.genai.ResponseStream;
import com.google.genai.errors.ClientException;
import com.google.genai.types.Content;
import com.google.genai.types.EmbedContentConfig;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.HttpRetryOptions;
import com.google.genai.types.ListModelsConfig;
import com.google.genai.types.Model;
import com.google.genai.types.Part;
import com.google.genai.types.ThinkingConfig;
import com.google.genai.types.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** com.google.genai. */
final class Gemini implements ModelsClient {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Override
  public String name() {
    return "google-genai-java";
  }

  @Override
  public String version() {
    return Versions.of("google-genai");
  }

  @Override
  public String api() {
    return "gemini";
  }

  @Override
  public Class<? extends Exception> exceptionOf(int status) {
    return ClientException.class;
  }

  private static com.google.genai.Client connect(Target target) {
    return com.google.genai.Client.builder()
        .apiKey(target.key())
        .httpOptions(
            HttpOptions.builder()
                .baseUrl(target.address())
                // By default it sends a request five times, within half a minute.
                .retryOptions(HttpRetryOptions.builder().attempts(2))
                .build())
        .build();
  }

  @Override
  public String create(Target target) {
    return ask(target, GenerateContentConfig.builder().build());
  }

  @Override
  public City extract(Target target) {
    Map<String, Object> schema =
        Map.of(
            "type", "object",
            "properties", Map.of("name", Map.of("type", "string")),
            "required", List.of("name"));
    String json =
        ask(
            target,
            GenerateContentConfig.builder()
                .responseMimeType("application/json")
                .responseJsonSchema(schema)
                .build());
    try {
      return JSON.readValue(json, City.class);
    } catch (JsonProcessingException error) {
      throw new Cases.Failure(json);
    }
  }

  private static String ask(Target target, GenerateContentConfig config) {
    try (com.google.genai.Client client = connect(target)) {
      return client.models.generateContent(target.model(), Cases.QUESTION, config).text();
    }
  }

  @Override
  public Streamed stream(Target target) {
    StringBuilder text = new StringBuilder();
    String finish = "";
    try (com.google.genai.Client client = connect(target);
        ResponseStream<GenerateContentResponse> stream =
            client.models.generateContentStream(
                target.model(), Cases.QUESTION, GenerateContentConfig.builder().build())) {
      for (GenerateContentResponse chunk : stream) {
        String piece = chunk.text();
        text.append(piece == null ? "" : piece);
        finish =
            chunk.candidates().stream()
                .flatMap(List::stream)
                .flatMap(candidate -> candidate.finishReason().stream())
                .map(Object::toString)
                .findFirst()
                .orElse(finish);
      }
    }
    return new Streamed(text.toString(), finish);
  }

  @Override
  public String useTool(Target target) {
    return chat(target, (chat, content) -> partsOf(chat.sendMessage(content)));
  }

  @Override
  public String streamTool(Target target) {
    return chat(
        target,
        (chat, content) -> {
          List<Part> parts = new ArrayList<>();
          try (ResponseStream<GenerateContentResponse> stream = chat.sendMessageStream(content)) {
            for (GenerateContentResponse chunk : stream) parts.addAll(partsOf(chunk));
          }
          return parts;
        });
  }

  /** A chat keeps the history, with its thoughts and signatures. */
  private static String chat(Target target, BiFunction<Chat, Content, List<Part>> turn) {
    try (com.google.genai.Client client = connect(target)) {
      Chat chat = client.chats.create(target.model(), WITH_TOOL);
      List<Part> parts = turn.apply(chat, Content.fromParts(Part.fromText(Cases.QUESTION)));
      List<FunctionCall> calls = parts.stream().flatMap(part -> part.functionCall().stream()).toList();
      Cases.check(calls.size() == 1, calls.size() + " calls");
      StringBuilder text = new StringBuilder();
      for (Part part : turn.apply(chat, Content.fromParts(answer(calls.get(0))))) {
        if (!part.thought().orElse(false)) text.append(part.text().orElse(""));
      }
      return text.toString();
    }
  }

  private static Part answer(FunctionCall call) {
    GetWeather weather = JSON.convertValue(call.args().orElseThrow(), GetWeather.class);
    FunctionResponse.Builder result =
        FunctionResponse.builder()
            .name(call.name().orElseThrow())
            .response(Map.of("output", weather.run()));
    call.id().ifPresent(result::id);
    return Part.builder().functionResponse(result.build()).build();
  }

  private static List<Part> partsOf(GenerateContentResponse response) {
    return response.candidates().stream()
        .flatMap(List::stream)
        .flatMap(candidate -> candidate.content().stream())
        .flatMap(content -> content.parts().stream())
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public int count(Target target) {
    try (com.google.genai.Client client = connect(target)) {
      return client
          .models
          .countTokens(target.model(), Cases.QUESTION, null)
          .totalTokens()
          .orElseThrow();
    }
  }

  @Override
  public List<String> listModels(Target target) {
    List<String> ids = new ArrayList<>();
    try (com.google.genai.Client client = connect(target)) {
      for (Model model : client.models.list(ListModelsConfig.builder().build())) {
        ids.add(model.name().orElse("").replaceFirst("^models/", ""));
      }
    }
    return ids;
  }

  @Override
  public List<List<Float>> embed(Target target) {
    EmbedContentConfig config = EmbedContentConfig.builder().outputDimensionality(2).build();
    try (com.google.genai.Client client = connect(target)) {
      return client.models.embedContent(target.model(), List.of("a", "b"), config).embeddings()
          .stream()
          .flatMap(List::stream)
          .flatMap(embedding -> embedding.values().stream())
          .toList();
    }
  }

  private static final GenerateContentConfig WITH_TOOL =
      GenerateContentConfig.builder()
          .tools(
              Tool.builder()
                  .functionDeclarations(
                      FunctionDeclaration.builder()
                          .name("get_weather")
                          .description("Returns the weather of a city.")
                          .parametersJsonSchema(
                              Map.of(
                                  "type", "object",
                                  "properties", Map.of("city", Map.of("type", "string")),
                                  "required", List.of("city")))
                          .build())
                  .build())
          .thinkingConfig(ThinkingConfig.builder().includeThoughts(true).build())
          .build();
}
