package conformance;

import java.io.File;
import java.util.Arrays;

/** The versions of the libraries, from the names of their files. */
final class Versions {
  private Versions() {}

  static String of(String artifact) {
    String classPath = System.getProperty("java.class.path");
    return Arrays.stream(classPath.split(File.pathSeparator))
        .map(path -> new File(path).getName())
        .filter(name -> name.matches(artifact + "-[0-9].*\\.jar"))
        .map(name -> name.substring(artifact.length() + 1, name.length() - ".jar".length()))
        .findFirst()
        .orElse("");
  }
}
