import type { BufferedBody } from '../../core/ports.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractTexts } from '../../wire/json/text.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { decodeBody } from '../written-answer.ts'
import type { AnswerShape } from './address.ts'
import { ChunkFraming } from './chunks.ts'
import { JoinedLogprobs } from './logprobs.ts'

const encoder = new TextEncoder()

/** Returns an answer that the gateway has written, in whatever shape, in the shape that a request asks for. */
export async function convertShape(
  body: BufferedBody,
  { shape, slice }: { readonly shape: AnswerShape; readonly slice: TimeSlice },
): Promise<BufferedBody> {
  const text = decodeBody(body)
  const from = findShape(text)
  if (from === shape) return body
  const chunks = listChunks(text, from)
  await slice.pause()
  if (shape === 'whole') return encoder.encode(await joinChunks(chunks, slice))
  const framing = new ChunkFraming(shape)
  return encoder.encode(chunks.map((json) => framing.frame(json)).join('') + framing.end)
}

function findShape(text: string): AnswerShape {
  const start = text.trimStart()
  if (start.startsWith('[')) return 'array'
  return start.startsWith('{') ? 'whole' : 'events'
}

/** Returns the JSON texts of the chunks. The gateway writes no line end inside of one. */
function listChunks(text: string, shape: AnswerShape): readonly string[] {
  if (shape === 'whole') return [text]
  if (shape === 'array') {
    const inner = text.trim().slice(1, -1).trim()
    return inner === '' ? [] : inner.split(/,\r\n/)
  }
  return text.split('\n\n').flatMap((event) => {
    const data = event.trim()
    return data.startsWith('data: ') ? [data.slice('data: '.length)] : []
  })
}

interface Candidate {
  readonly parts: JsonObject[]
  readonly logprobs: JoinedLogprobs
  last: JsonObject
}

function createCandidate(): Candidate {
  return { parts: [], logprobs: new JoinedLogprobs(), last: {} }
}

/** Joins the chunks of a stream: neighbouring texts of one kind become one part, as in a whole answer. */
async function joinChunks(chunks: readonly string[], slice: TimeSlice): Promise<string> {
  const candidates = new Map<unknown, Candidate>()
  let members: JsonObject = {}
  for (const json of chunks) {
    const { candidates: given, ...rest } = parseExactly(json)
    members = { ...members, ...rest }
    for (const one of Array.isArray(given) ? given.filter(isObject) : []) {
      const known = candidates.get(one['index']) ?? createCandidate()
      candidates.set(one['index'], known)
      const { content, logprobsResult, ...others } = one
      known.last = { ...known.last, ...others }
      known.logprobs.add(logprobsResult)
      const parts = isObject(content) && Array.isArray(content['parts']) ? content['parts'] : []
      for (const part of parts) if (isObject(part)) addPart(known.parts, part)
    }
    await slice.pause()
  }
  const joined = [...candidates.values()].map(({ parts, logprobs, last }) => ({
    content: { parts, role: 'model' },
    ...last,
    ...logprobs.member,
  }))
  return stringifyJson({ candidates: joined, ...members })
}

/** Parses a chunk and keeps the exact text of arguments, whose numbers parsing could round. */
function parseExactly(json: string): JsonObject {
  const chunk = JSON.parse(json) as WrittenChunk
  const texts = extractTexts(json, 'candidates.*.content.parts.*.functionCall.args')
  for (const [path, text] of texts) {
    const [, candidate, , , part] = path.split('.')
    const found = chunk.candidates[Number(candidate)]
    const call = found?.content.parts[Number(part)]?.functionCall
    if (call) call.args = new RawJson(text)
  }
  return chunk
}

/** A chunk of the gateway's. Only one with candidates can have a call. */
interface WrittenChunk extends JsonObject {
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly { readonly functionCall?: { args: unknown } }[] }
  }[]
}

function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1)
  const isJoined =
    last !== undefined &&
    typeof last['text'] === 'string' &&
    typeof part['text'] === 'string' &&
    last['thought'] === part['thought'] &&
    !('thoughtSignature' in last)
  if (isJoined)
    parts[parts.length - 1] = { ...last, ...part, text: `${last['text']}${part['text']}` }
  else if (part['text'] !== '' || 'thoughtSignature' in part || parts.length === 0) parts.push(part)
}
