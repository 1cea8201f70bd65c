/** Removes the characters that scrapers reject: control characters and lone surrogates. */
export function toLabelValue(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '')
}
