import { countItems, type EmbedCall, type VectorValue } from '../../core/embeddings.ts'
import type { EmbedResult, HeaderReader, NativeEmbedEndpoint } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { UnreadBytes, UpstreamResponse } from '../../core/ports.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import { estimateEmbedTokens } from '../../tokens/index.ts'
import { ByteList } from '../../wire/byte-list.ts'
import { decodeFloats, encodeFloats } from '../../wire/floats.ts'
import type { NumberArray, NumberForm } from '../../wire/json/number-reader.ts'
import {
  type CallDeps,
  callUpstream,
  failed,
  type UpstreamCall,
} from '../upstream/call-upstream.ts'
import type { Batch } from './batches.ts'
import { type EmbedDoorCall, findNative, getEndpoint } from './door.ts'
import { maxEmbedAnswerBytes, scanAnswer } from './scan-answer.ts'

/** The vectors of one batch, in the order of its items, all of one length. */
export interface EmbeddedBatch {
  readonly vectors: readonly NumberArray[]
  /** The index of the set that the items belong to. */
  readonly set: number
  readonly tokens: number
  /** True when the upstream did not report `tokens`. */
  readonly estimated: boolean
  /** The answer of an upstream that speaks the API of the client, in place of the vectors. */
  readonly body?: Uint8Array
}

/** Makes one upstream call, for one batch. */
export function callEmbed(
  { call: batch, set }: Batch,
  attempt: Attempt,
  deps: CallDeps,
): Promise<CallResult<EmbeddedBatch>> {
  const endpoint = getEndpoint(attempt.link)
  const form: NumberForm = batch.encoding === 'base64' ? 'float32' : 'text'
  return call(attempt, deps, {
    request: () => endpoint.buildRequest(batch),
    async read(response, header, held) {
      const { scope } = attempt
      const options = { form, scope, clock: deps.clock, held }
      const { json, arrays } = await scanAnswer(response.body, options)
      const read = endpoint.parseAnswer(json, header)
      if (!read.ok) return read
      const vectors = read.vectors.flatMap((value) => toVector(value, arrays, form) ?? [])
      const problem = findProblem(vectors.length, countItems(batch.input))
      if (problem !== undefined) return failed(problem)
      if (!areComparable(vectors)) return failed(differing)
      return { ok: true, value: { vectors, set, ...resolveTokens(read, [batch]) } }
    },
  })
}

/** Makes one upstream call in the API of the client, whose bytes pass both ways. */
export function callNative(
  sent: EmbedDoorCall,
  attempt: Attempt,
  deps: CallDeps,
): Promise<CallResult<EmbeddedBatch>> {
  const { sets } = sent
  // The caller has found the endpoint before.
  const native = sent.native as NonNullable<typeof sent.native>
  const endpoint = findNative(sent, attempt.link) as NativeEmbedEndpoint
  return call(attempt, deps, {
    request: () => endpoint.buildRequest(native),
    async read(response, _, held) {
      const { scope } = attempt
      const kept = new ByteList()
      const options = { form: 'text', scope, clock: deps.clock, held, kept } as const
      const { json } = await scanAnswer(response.body, options)
      const read = endpoint.parseAnswer(json)
      if (!read.ok) return read
      const items = sets.reduce((sum, { input }) => sum + countItems(input), 0)
      const problem = findProblem(read.vectors.length, items)
      if (problem !== undefined) return failed(problem)
      const value = { vectors: [], set: 0, body: kept.takeAll(), ...resolveTokens(read, sets) }
      return { ok: true, value }
    },
  })
}

interface CallSteps extends Pick<UpstreamCall<EmbeddedBatch>, 'request'> {
  /** Reads an answer; `held` counts what is kept of it until the request ends. */
  readonly read: (
    response: UpstreamResponse,
    header: HeaderReader,
    held: UnreadBytes,
  ) => Promise<CallResult<EmbeddedBatch>>
}

function call(
  attempt: Attempt,
  deps: CallDeps,
  { request, read }: CallSteps,
): Promise<CallResult<EmbeddedBatch>> {
  const endpoint = getEndpoint(attempt.link)
  return callUpstream<EmbeddedBatch>({
    attempt,
    deps,
    streamed: false,
    maxAnswerBytes: maxEmbedAnswerBytes,
    request,
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response, header) {
      const held = deps.bufferAccount.openCounter()
      const result = await read(response, header, held).catch((error: unknown) => {
        held.release()
        throw error
      })
      // The vectors count as held until the request ends.
      if (!result.ok) held.release()
      return result
    },
  })
}

function resolveTokens(
  { tokens }: Extract<EmbedResult, { ok: true }>,
  calls: readonly EmbedCall[],
): Pick<EmbeddedBatch, 'tokens' | 'estimated'> {
  if (tokens !== undefined) return { tokens, estimated: false }
  return { tokens: estimateTokens(calls), estimated: true }
}

/** Estimates the items of all calls together. */
export function estimateTokens(calls: readonly EmbedCall[]): number {
  return calls.reduce((sum, { input }) => sum + estimateEmbedTokens(input), 0)
}

function toVector(
  value: VectorValue,
  arrays: readonly NumberArray[],
  form: NumberForm,
): NumberArray | undefined {
  if (typeof value !== 'string') return arrays[value[0]]
  const floats = decodeFloats(value)
  if (!floats) return undefined
  const bytes = form === 'float32' ? encodeFloats(floats) : encoder.encode(floats.join())
  return { form, length: floats.length, pieces: [bytes] }
}

const encoder = new TextEncoder()

/** True when all vectors have the same length. */
export function areComparable(vectors: readonly NumberArray[]): boolean {
  const [first] = vectors
  return vectors.every(({ length }) => length === first?.length)
}

const differing: UpstreamFailure = { kind: 'malformed', detail: 'its vectors differ in length' }

function findProblem(vectors: number, items: number): UpstreamFailure | undefined {
  if (vectors === items) return undefined
  return { kind: 'malformed', detail: `it has ${vectors} vectors for ${items} items` }
}
