import { invalid } from '../../core/errors.ts'
import type { ObjectLayout } from '../../core/layout.ts'
import type { IsUtf8 } from '../../core/ports.ts'
import type { TimeSlice } from '../time-slice.ts'
import { type JsonMatch, matchJson } from './match.ts'
import { defaultStepBytes, type JsonLimits, scanLayout } from './scan.ts'
import type { ObjectShape } from './shape.ts'
import { parseInSteps, strictUtf8 } from './steps.ts'

/** A longer body could block the event loop, and is parsed in steps. */
const maxMatchedBytes = 2 * 1024 * 1024

/** A longer member is parsed in steps, with the whole body. */
const maxHeadBytes = 16 * 1024

/** Deeper JSON overflows the parsers of some upstreams; more values take much time and memory. */
export const maxJson: JsonLimits = { maxDepth: 128, maxValues: 200_000 }

export interface JsonBody<Name extends string> {
  readonly layout: ObjectLayout<Name>
  readonly value: object
}

export interface JsonBodyOptions<Name extends string> {
  /** Top-level members to locate in the layout. */
  readonly names: readonly Name[]
  /** Those of `names` that must not be repeated or spelled in another letter case. */
  readonly unique: readonly Name[]
  readonly timeSlice: TimeSlice
}

/**
 * Parses the JSON object of a request; LM-1001 for anything else. Checks its size first and parses it in
 * steps, so that no body can block the event loop.
 */
export async function readJsonBody<Name extends string>(
  bytes: Uint8Array,
  { names, unique, timeSlice }: JsonBodyOptions<Name>,
): Promise<JsonBody<Name>> {
  const layout = scanLayout(bytes, names, { limits: maxJson })
  checkSize(layout)
  const ambiguous = unique.find(
    (name) => layout.spans[name].length > 1 || layout.misspelled.includes(name),
  )
  if (ambiguous !== undefined) {
    const message = `${ambiguous}: must appear only once, in exactly this spelling`
    throw invalid(message, ambiguous)
  }
  if (layout.cuts.length === 0) return { layout, value: parseObject(bytes) }
  await timeSlice.pause()
  const value = await parseInSteps(bytes, layout.cuts, { pause: () => timeSlice.pause() }).catch(
    rethrowInvalid,
  )
  return { layout, value: asObject(value) }
}

/** What a body is matched against. */
export interface MatchOptions<Name extends string> {
  readonly shape: ObjectShape<Name>
  /** The described members to parse. They are short. */
  readonly head: readonly NoInfer<Name>[]
  readonly isUtf8: IsUtf8
}

/** A body that matches a shape, and its short members. */
export interface MatchedBody<Name extends string> extends JsonMatch<Name> {
  /** The parsed values of the members that are asked for. */
  readonly head: Readonly<Record<string, unknown>>
}

/**
 * Matches a request body against a shape without parsing it, except for the members of `head`. Undefined
 * when it does not match: then `readJsonBody` must judge it.
 */
export function matchJsonBody<Name extends string>(
  bytes: Uint8Array,
  { shape, head: names, isUtf8 }: MatchOptions<Name>,
): MatchedBody<Name> | undefined {
  if (bytes.length > maxMatchedBytes || !isUtf8(bytes)) return undefined
  const match = matchJson(bytes, shape, maxJson)
  if (!match) return undefined
  const head: Record<string, unknown> = {}
  const { layout, tallies } = match
  for (const name of names) {
    // A described member occurs at most once.
    const span = layout.spans[name][0]
    if (!span) continue
    if (span.end - span.start > maxHeadBytes) return undefined
    head[name] = JSON.parse(strictUtf8.decode(bytes.subarray(span.start, span.end)))
  }
  // Member by member, because a spread takes ten times as long.
  return { layout, tallies, head }
}

/**
 * Parses in steps a body that has matched a shape, when it is long. Undefined when `parseObject` takes a few
 * milliseconds.
 */
export function parseMatched(bytes: Uint8Array, timeSlice: TimeSlice): Promise<object> | undefined {
  if (bytes.length <= defaultStepBytes) return undefined
  const { cuts } = scanLayout(bytes, [])
  return parseInSteps(bytes, cuts, { pause: () => timeSlice.pause() }).then(asObject)
}

/** Parses a request body whose size has been checked; LM-1001 for anything but a JSON object. */
export function parseObject(bytes: Uint8Array): object {
  if (bytes.length === 0) throw invalid('the request body is empty; send a JSON object')
  try {
    return asObject(JSON.parse(strictUtf8.decode(bytes)))
  } catch (error) {
    return rethrowInvalid(error)
  }
}

function checkSize({ depth, values }: Pick<ObjectLayout<never>, 'depth' | 'values'>): void {
  if (depth > maxJson.maxDepth)
    throw invalid(`the request body is nested deeper than ${maxJson.maxDepth}`)
  if (values > maxJson.maxValues) {
    throw invalid(
      `the request body holds more than ${maxJson.maxValues} objects, arrays and members`,
    )
  }
}

function asObject(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the request body must be a JSON object')
  }
  return value
}

function rethrowInvalid(error: unknown): never {
  // By name, since the error classes of a host may differ from the global ones.
  switch (error instanceof Object && 'name' in error && error.name) {
    case 'SyntaxError':
      throw invalid('the request body is not valid JSON')
    case 'TypeError':
      throw invalid('the request body is not valid UTF-8')
    default:
      throw error
  }
}
