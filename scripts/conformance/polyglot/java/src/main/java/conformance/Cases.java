package conformance;

import conformance.Client.Streamed;
import conformance.Client.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The cases that every client passes through. */
final class Cases {
  static final String QUESTION = "What is the weather in Zürich?";

  private static final String GREETING = System.getenv("CONFORMANCE_TEXT");
  private static final String TOOL_ANSWER = "The result: 21 degrees in Zürich 1.";
  private static final String CITY_NAME = "Zürich 1";

  /** Longer than any client waits that retries a request twice. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(30);

  private Cases() {}

  /** Returns a detail, or throws if the case fails. */
  interface Run {
    String run(Client client, Target target);
  }

  /**
   * A case.
   *
   * @param scenario the scenario of the upstream. No model is named {@code missing}.
   */
  record Case(String name, String scenario, Run run) {}

  private static final List<Case> ALL =
      List.of(
          new Case("create", "say", (client, at) -> expect(client.create(at), GREETING)),
          new Case("stream", "say", Cases::stream),
          new Case("tools", "tool", Cases::useTool),
          new Case("tools-streamed", "tool", Cases::streamTool),
          new Case("reasoning", "think", Cases::useTool),
          new Case("reasoning-streamed", "think", Cases::streamTool),
          new Case(
              "structured", "structured", (client, at) -> expect(client.extract(at).name, CITY_NAME)),
          status(400, "refuse"),
          status(401, "say"),
          status(402, "say"),
          status(404, "missing"),
          status(429, "rate-limited"),
          new Case("cut", "cut", Cases::cut));

  /** The kinds of upstream that embed. */
  private static final Set<String> EMBED_KINDS = Set.of("google", "openai");

  /** The cases of a client in front of a kind of upstream. */
  static List<Case> of(Client client, String kind) {
    List<Case> cases = new ArrayList<>(ALL);
    if (client instanceof ModelsClient models) {
      cases.add(new Case("count", "say", (tested, at) -> count(models, at)));
      cases.add(new Case("list", "say", (tested, at) -> listModels(models, at)));
      if (EMBED_KINDS.contains(kind)) {
        cases.add(new Case("embed", "embed", (tested, at) -> embed(models, at)));
      }
    }
    return cases;
  }

  private static String count(ModelsClient client, Target target) {
    int tokens = client.count(target);
    check(tokens > 0, tokens + " tokens");
    return tokens + " tokens";
  }

  private static String listModels(ModelsClient client, Target target) {
    List<String> ids = client.listModels(target);
    check(ids.contains(target.model()), target.model() + " is not among " + ids.size() + " models");
    return ids.size() + " models";
  }

  private static String embed(ModelsClient client, Target target) {
    return expect(client.embed(target).toString(), "[[0.5, 1.0], [0.5, 2.0]]");
  }

  private static String stream(Client client, Target target) {
    Streamed streamed = client.stream(target);
    expect(streamed.text(), GREETING);
    check(!streamed.finish().isEmpty(), "the stream has no finish reason");
    return "finish: " + streamed.finish();
  }

  private static String useTool(Client client, Target target) {
    return expect(client.useTool(target), TOOL_ANSWER);
  }

  private static String streamTool(Client client, Target target) {
    return expect(client.streamTool(target), TOOL_ANSWER);
  }

  private static Case status(int status, String scenario) {
    return new Case(
        String.valueOf(status), scenario, (client, target) -> expectStatus(status, client, target));
  }

  private static String expectStatus(int status, Client client, Target target) {
    Instant started = Instant.now();
    String text;
    try {
      text = client.create(target);
    } catch (RuntimeException error) {
      Class<? extends Exception> expected = client.exceptionOf(status);
      check(expected.isInstance(error), "not " + expected.getSimpleName() + " but " + describe(error));
      Duration waited = Duration.between(started, Instant.now());
      check(waited.compareTo(MAX_WAIT) < 0, waited + " until " + describe(error));
      return describe(error);
    }
    throw new Failure("no exception, but the text " + text);
  }

  private static String cut(Client client, Target target) {
    Streamed streamed;
    try {
      streamed = client.stream(target);
    } catch (RuntimeException error) {
      return "throws " + describe(error);
    }
    boolean isMarked = streamed.finish().isEmpty() || streamed.finish().equals("failed");
    check(isMarked, "looks complete: " + streamed.finish());
    return "no exception, finish: " + streamed.finish();
  }

  private static String expect(String actual, String expected) {
    check(expected.equals(actual), "\"" + actual + "\", not \"" + expected + "\"");
    return "";
  }

  static void check(boolean condition, String message) {
    if (!condition) throw new Failure(message);
  }

  static String describe(Exception error) {
    String text = String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
    return error.getClass().getSimpleName() + ": " + text.substring(0, Math.min(text.length(), 300));
  }

  /** A case failed without an exception of the library. */
  static final class Failure extends RuntimeException {
    Failure(String message) {
      super(message);
    }
  }
}
