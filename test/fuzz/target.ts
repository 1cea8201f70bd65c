/** A parser that reads bytes from outside, with the rules that hold for every input. */
export interface FuzzTarget {
  /** Valid inputs, from which others are made. */
  readonly seeds: readonly (string | Uint8Array)[]
  /** Pieces that inputs often consist of. */
  readonly words: readonly string[]
  /** Throws, or rejects, when a rule does not hold for this input. */
  readonly check: (input: Uint8Array) => void | Promise<void>
}

const encoder = new TextEncoder()

export function toBytes(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? encoder.encode(text) : text
}

/** A target for a parser of text. Invalid UTF-8 in the input is replaced. */
export function textTarget({
  check,
  ...rest
}: Omit<FuzzTarget, 'check'> & {
  readonly check: (text: string) => void | Promise<void>
}): FuzzTarget {
  return { ...rest, check: (input) => check(decoder.decode(input)) }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Splits an input: its last byte is the number of cuts, at most 7, and the bytes before that are their
 * places. The rest is the data.
 */
export function splitInput(input: Uint8Array): {
  readonly whole: Uint8Array
  readonly pieces: readonly Uint8Array[]
} {
  const cuts = Math.min((input.at(-1) ?? 0) % 8, Math.max(0, input.length - 1))
  const whole = input.slice(0, Math.max(0, input.length - 1 - cuts))
  const places = Array.from(input.subarray(whole.length, whole.length + cuts), (byte) =>
    Math.floor((byte / 256) * (whole.length + 1)),
  ).sort((a, b) => a - b)
  const starts = [0, ...places]
  // Copies, because a network chunk has a buffer of its own.
  return { whole, pieces: starts.map((start, at) => whole.slice(start, starts[at + 1])) }
}

/** Returns the value, or the error in a comparable form when it is one of `declared`; others are thrown. */
export function attempt<T>(
  run: () => T,
  declared: (error: unknown) => boolean,
): { readonly value: T } | { readonly failed: true } {
  try {
    return { value: run() }
  } catch (error) {
    if (!declared(error)) throw error
    return { failed: true }
  }
}
