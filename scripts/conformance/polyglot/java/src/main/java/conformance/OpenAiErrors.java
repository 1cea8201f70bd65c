package conformance;

import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.errors.UnexpectedStatusCodeException;

/** The exceptions of openai-java. */
final class OpenAiErrors {
  private OpenAiErrors() {}

  static Class<? extends Exception> exceptionOf(int status) {
    return switch (status) {
      case 400 -> BadRequestException.class;
      case 401 -> UnauthorizedException.class;
      case 404 -> NotFoundException.class;
      case 429 -> RateLimitException.class;
      // The library has no class of its own for 402.
      default -> UnexpectedStatusCodeException.class;
    };
  }
}
