package conformance;

import java.util.List;

/** A client that also counts, lists models and embeds. */
interface ModelsClient extends Client {
  /** Counts the tokens of the question. */
  int count(Target target);

  /** Lists the ids of the models. */
  List<String> listModels(Target target);

  /** Embeds two texts in vectors of two dimensions. */
  List<List<Float>> embed(Target target);
}
