package conformance;

/** A client library in one of its modes. Its methods throw what the library throws. */
interface Client {
  String name();

  String version();

  /** {@code chat}, {@code responses}, {@code messages} or {@code gemini}. */
  String api();

  /** Asks for a text, and returns it. */
  String create(Target target);

  /** Asks for a text as a stream. */
  Streamed stream(Target target);

  /** Offers a tool, answers its call, and returns the text of the second turn. */
  String useTool(Target target);

  /** Does the same with two streams. */
  String streamTool(Target target);

  /** Asks for structured output. */
  City extract(Target target);

  /** The exception that the library documents for an HTTP status. */
  Class<? extends Exception> exceptionOf(int status);

  /**
   * A model behind the gateway.
   *
   * @param address the address of the gateway, without /v1. It differs for every case.
   */
  record Target(String address, String key, String model) {}

  /**
   * A stream that ended without an exception.
   *
   * @param finish how the client says that the answer ended; empty if it does not say it
   */
  record Streamed(String text, String finish) {}
}
