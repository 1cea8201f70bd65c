import { countItems, type EmbedCall, type VectorValue } from '../../core/embeddings.ts'
import type { EmbedEndpoint, HeaderReader } from '../../core/endpoints.ts'
import type { UpstreamResponse } from '../../core/ports.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import { estimateEmbedTokens } from '../../tokens/index.ts'
import { decodeFloats, encodeFloats } from '../../wire/floats.ts'
import type { NumberArray, NumberForm } from '../../wire/json/number-reader.ts'
import { type CallDeps, callUpstream, failed } from '../upstream/call-upstream.ts'
import { maxEmbedAnswerBytes, type ScanOptions, scanAnswer } from './scan-answer.ts'

/** The vectors of one batch, in the order of its items, all of one length. */
export interface EmbeddedBatch {
  readonly vectors: readonly NumberArray[]
  readonly tokens: number
  /** True when the upstream did not report `tokens`. */
  readonly estimated: boolean
}

/** Makes one upstream call, for one batch. */
export function callEmbed(
  batch: EmbedCall,
  { link, scope, credential, mayResend, resends }: Attempt,
  { clock, bufferAccount, trace }: CallDeps,
): Promise<CallResult<EmbeddedBatch>> {
  // A route for embeddings has only links with an embed endpoint.
  const endpoint = link.embed as EmbedEndpoint
  const form: NumberForm = batch.encoding === 'base64' ? 'float32' : 'text'
  return callUpstream<EmbeddedBatch>({
    link,
    scope,
    credential,
    mayResend,
    resends,
    clock,
    bufferAccount,
    trace,
    streamed: false,
    maxAnswerBytes: maxEmbedAnswerBytes,
    request: () => endpoint.buildRequest(batch),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response, header) {
      const held = bufferAccount.openCounter()
      const reading = readBatch({ response, header, endpoint, batch, form, held, scope, clock })
      const result = await reading.catch((error: unknown) => {
        held.release()
        throw error
      })
      // The vectors count as held until the request ends.
      if (!result.ok) held.release()
      return result
    },
  })
}

interface BatchAnswer extends ScanOptions {
  readonly response: UpstreamResponse
  readonly header: HeaderReader
  readonly endpoint: EmbedEndpoint
  readonly batch: EmbedCall
}

async function readBatch(answer: BatchAnswer): Promise<CallResult<EmbeddedBatch>> {
  const { response, header, endpoint, batch, form } = answer
  const { json, arrays } = await scanAnswer(response.body, answer)
  const read = endpoint.parseAnswer(json, header)
  if (!read.ok) return read
  const vectors = read.vectors.flatMap((value) => toVector(value, arrays, form) ?? [])
  const problem = findProblem(vectors, countItems(batch.input))
  if (problem !== undefined) return failed({ kind: 'malformed', detail: problem })
  const tokens = read.tokens ?? estimateEmbedTokens(batch.input)
  return { ok: true, value: { vectors, tokens, estimated: read.tokens === undefined } }
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

function findProblem(vectors: readonly NumberArray[], items: number): string | undefined {
  if (vectors.length !== items) return `it has ${vectors.length} vectors for ${items} items`
  return areComparable(vectors) ? undefined : 'its vectors differ in length'
}
