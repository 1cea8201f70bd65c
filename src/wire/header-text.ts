/** Returns why a text cannot be a header value, without quoting it; undefined when it can. */
export function findHeaderTextProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) {
    return 'it contains a control character, such as a line break, which a header cannot carry'
  }
  if (/[^\p{Cc}\x20-\xff]/u.test(text)) {
    return 'it contains a character outside Latin-1, which a header cannot carry'
  }
  return undefined
}

/** Returns why a credential is unusable as it is written, whatever its kind; undefined when it is not. */
export function findQuotes(text: string): string | undefined {
  // `docker run --env-file` and `kubectl create secret --from-env-file` keep the quotes of a value.
  return /^(["'`]).*\1$/s.test(text) ? 'the key is in quotes; remove them' : undefined
}
