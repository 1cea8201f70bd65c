/** Returns the ids and patterns of a text, which commas or blanks separate. */
export function splitModels(text: string): string[] {
  return text.split(/[\s,]+/).filter((model) => model !== '')
}

/**
 * Returns those of the ids and patterns of a key that no request could match. `known`: the ids of models and routes,
 * and the patterns of the configuration. A `*` is at the end, if anywhere.
 */
export function findUnknown(wanted: readonly string[], known: readonly string[]): string[] {
  return wanted.filter((model) => !known.some((id) => overlap(model, id)))
}

/** Whether there is an id that both match. */
function overlap(one: string, other: string): boolean {
  const [start, end] = [cutStar(one), cutStar(other)]
  if (start === undefined && end === undefined) return one === other
  if (start === undefined) return one.startsWith(end ?? '')
  if (end === undefined) return other.startsWith(start)
  return start.startsWith(end) || end.startsWith(start)
}

/** Returns what a pattern begins with; undefined for an id. */
function cutStar(text: string): string | undefined {
  return text.endsWith('*') ? text.slice(0, -1) : undefined
}
