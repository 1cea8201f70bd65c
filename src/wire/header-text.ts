/** Why a text cannot be a header value, without quoting it; undefined when it can. */
export function findHeaderTextProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) {
    return 'it holds a control character, such as a line break, which no header can carry'
  }
  if (/[^\p{Cc}\x20-\xff]/u.test(text)) {
    return 'it holds a character outside Latin-1, which no header can carry'
  }
  return undefined
}
