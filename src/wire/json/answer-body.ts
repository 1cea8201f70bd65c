import type { AnswerBody } from '../../core/endpoints.ts'
import { runInSteps } from '../../core/steps.ts'
import type { TimeSlice } from '../time-slice.ts'
import { isSpace, openBracket } from './codes.ts'
import { answerLimits as limits, malformedJson, parseJson } from './parse.ts'
import { scanInSteps } from './scan.ts'
import { parseInSteps } from './steps.ts'

/** A longer body is decoded and parsed in steps. */
const maxWholeBytes = 128 * 1024

/** A step of this many bytes is decoded within a few milliseconds, whatever its characters. */
const decodedBytes = 512 * 1024

/** True for a body whose reading takes long enough to yield to other work. */
export function isLongAnswer(bytes: Uint8Array): boolean {
  return bytes.length > maxWholeBytes
}

/** True for a body that can only be a JSON list. */
export function isJsonList(bytes: Uint8Array): boolean {
  let at = 0
  while (isSpace(bytes[at])) at++
  return bytes[at] === openBracket
}

/** Reads a body at once, and only when it is asked for. */
export function readWhole(bytes: Uint8Array): AnswerBody {
  return new WholeBody(bytes)
}

/**
 * Decodes and parses a long body, and yields to other work in between. Throws a `malformed` fault for one that
 * is nested too deeply, or has more than `maxValues` values.
 */
export async function readInSteps(
  bytes: Uint8Array,
  { slice, maxValues }: { readonly slice: TimeSlice; readonly maxValues: number },
): Promise<AnswerBody> {
  const pause = () => slice.pause()
  const scan = scanInSteps(bytes, { limits: { ...limits, maxValues } })
  const { depth, values, cuts } = await runInSteps(scan, pause)
  if (depth > limits.maxDepth) throw malformedJson('its JSON is nested too deeply')
  if (values > maxValues) throw malformedJson('its JSON has too many values')
  await slice.pause()
  const text = await decodeInSteps(bytes, slice)
  const value = await parseInSteps(bytes, cuts, { pause, decoder }).catch(toUndefined)
  return { bytes, text, value }
}

async function decodeInSteps(bytes: Uint8Array, slice: TimeSlice): Promise<string> {
  const streaming = new TextDecoder()
  let text = ''
  for (let at = 0; at < bytes.length; at += decodedBytes) {
    text += streaming.decode(bytes.subarray(at, at + decodedBytes), { stream: true })
    await slice.pause()
  }
  return text + streaming.decode()
}

/** By name, since the error classes of a host may differ from the global ones. */
function toUndefined(error: unknown): undefined {
  if (error instanceof Object && 'name' in error && error.name === 'SyntaxError') return undefined
  throw error
}

class WholeBody implements AnswerBody {
  readonly bytes: Uint8Array
  #text: string | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get text(): string {
    this.#text ??= decoder.decode(this.bytes)
    return this.#text
  }

  get value(): unknown {
    return parseJson(this.text)
  }
}

const decoder = new TextDecoder()
