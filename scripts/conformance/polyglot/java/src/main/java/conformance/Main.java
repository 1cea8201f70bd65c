package conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import conformance.Cases.Case;
import conformance.Client.Target;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the Java clients against the gateway, and prints a line of JSON for each case.
 *
 * <p>The environment has the address of the gateway (CONFORMANCE_ADDRESS), the kind of the upstream
 * (CONFORMANCE_KIND), a key (CONFORMANCE_KEY), a key whose budget is spent
 * (CONFORMANCE_SPENT_KEY), the APIs to call, separated by commas (CONFORMANCE_APIS), and the text
 * that the upstream says (CONFORMANCE_TEXT).
 */
final class Main {
  private static final PrintStream OUT =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final List<Client> CLIENTS =
      List.of(
          new OpenAiChat(),
          new OpenAiResponses(),
          new LangChain4jChat(),
          new AnthropicMessages(),
          new Gemini());

  private Main() {}

  public static void main(String[] arguments) throws JsonProcessingException {
    List<String> apis = List.of(System.getenv("CONFORMANCE_APIS").split(","));
    for (Client client : CLIENTS) {
      if (!apis.contains(client.api())) continue;
      for (Case each : Cases.of(client, System.getenv("CONFORMANCE_KIND"))) run(client, each);
    }
    // The HTTP clients keep threads that would delay the exit.
    System.exit(0);
  }

  private static void run(Client client, Case each) throws JsonProcessingException {
    String kind = System.getenv("CONFORMANCE_KIND");
    String label = String.join(":", client.name(), client.api(), kind, each.name());
    Target target =
        new Target(
            System.getenv("CONFORMANCE_ADDRESS") + "/" + label,
            keyOf(each),
            kind + "--" + each.scenario());
    boolean ok = true;
    String detail;
    try {
      detail = each.run().run(client, target);
    } catch (RuntimeException error) {
      ok = false;
      detail = Cases.describe(error);
    }
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("client", client.name());
    result.put("version", client.version());
    result.put("api", client.api());
    result.put("kind", kind);
    result.put("case", each.name());
    result.put("ok", ok);
    result.put("detail", detail);
    OUT.println(JSON.writeValueAsString(result));
  }

  private static String keyOf(Case each) {
    return switch (each.name()) {
      case "401" -> "sk-wrong";
      case "402" -> System.getenv("CONFORMANCE_SPENT_KEY");
      default -> System.getenv("CONFORMANCE_KEY");
    };
  }
}
