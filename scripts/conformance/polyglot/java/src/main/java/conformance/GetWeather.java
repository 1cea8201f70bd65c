package conformance;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonProperty;

/** The tool. The libraries write its schema, and read the arguments of a call into it. */
@JsonClassDescription("Returns the weather of a city.")
public class GetWeather {
  @JsonProperty public String city;

  String run() {
    return "21 degrees in " + city;
  }
}
