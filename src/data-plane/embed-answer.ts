import type { Encoding } from '../core/embeddings.ts'
import type { Usage } from '../core/usage.ts'
import { base64Length, writeBase64 } from '../wire/floats.ts'
import type { NumberArray } from '../wire/number-reader.ts'
import type { Pace } from '../wire/pace.ts'

export interface EmbedAnswer {
  readonly vectors: readonly NumberArray[]
  readonly encoding: Encoding
  /** The client-facing id of the model that served. */
  readonly model: string
  readonly usage: Usage
}

/** Writes the client's body: once, into an array of its length, and not in one go when it is long. */
export async function renderEmbeddings(answer: EmbedAnswer, pace: Pace): Promise<Uint8Array> {
  const { vectors, encoding, model, usage } = answer
  const head = encoder.encode('{"object":"list","data":[')
  const end = encoder.encode(
    `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(renderUsage(usage))}}`,
  )
  const entries = vectors.map((vector, index) => {
    const comma = index === 0 ? '' : ','
    const before = `${comma}{"object":"embedding","index":${index},"embedding":${opening[encoding]}`
    return { before: encoder.encode(before), vector }
  })
  const after = encoder.encode(`${closing[encoding]}}`)
  const length = entries.reduce(
    (sum, { before, vector }) => sum + before.length + writtenLength(vector) + after.length,
    head.length + end.length,
  )
  const body = new Uint8Array(length)
  body.set(head)
  let at = head.length
  for (const { before, vector } of entries) {
    body.set(before, at)
    at = writeVector(vector, body, at + before.length)
    body.set(after, at)
    at += after.length
    await pace.pause()
  }
  body.set(end, at)
  return body
}

const encoder = new TextEncoder()

const opening = { float: '[', base64: '"' } as const
const closing = { float: ']', base64: '"' } as const

function writtenLength({ form, pieces }: NumberArray): number {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return form === 'text' ? length : base64Length(length)
}

function writeVector({ form, pieces }: NumberArray, body: Uint8Array, start: number): number {
  let at = start
  for (const piece of pieces) {
    if (form === 'float32') at = writeBase64(piece, body, at)
    else {
      body.set(piece, at)
      at += piece.length
    }
  }
  return at
}

function renderUsage({ promptTokens, totalTokens, estimated }: Usage): object {
  return {
    prompt_tokens: promptTokens,
    total_tokens: totalTokens,
    ...(estimated && { estimated: true }),
  }
}
