package conformance;

/** The structured output. The libraries write its schema. */
public class City {
  public String name;
}
