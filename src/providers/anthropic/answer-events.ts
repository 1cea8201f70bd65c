import type { AnswerBody } from '../../core/endpoints.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { keepJson, writeEvent } from '../base/answer-events.ts'

/**
 * Writes a whole message as a stream, for an upstream that answered a streamed request so.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function writeMessageEvents({ value, text }: AnswerBody): Uint8Array {
  const {
    content,
    usage = noUsage,
    stop_reason: reason = null,
    stop_sequence: sequence = null,
    stop_details: details,
    container,
    ...message
  } = isObject(value) ? value : {}
  const unknown = { content: [], stop_reason: null, stop_sequence: null, usage }
  const delta = {
    stop_reason: reason,
    stop_sequence: sequence,
    ...(details !== undefined && { stop_details: details }),
    ...(container !== undefined && { container }),
  }
  const blocks = Array.isArray(content) ? content : []
  const readText = createReader(text)
  return encoder.encode(
    [
      write('message_start', { message: { ...message, ...unknown } }),
      ...blocks.flatMap((block, index) =>
        isObject(block) ? writeBlock(block, index, readText) : [],
      ),
      write('message_delta', { delta, usage }),
      write('message_stop', {}),
    ].join(''),
  )
}

const encoder = new TextEncoder()

/** SDKs read these members of every message. Zeros are no counts, so the gateway estimates. */
const noUsage = Object.freeze({ input_tokens: 0, output_tokens: 0 })

function write(type: string, members: object): string {
  return writeEvent({ type, ...members }, type)
}

/** Reads the JSON text at a path. */
type TextReader = (pattern: string, path: string) => string | undefined

/** Searches the answer once for each pattern. */
function createReader(json: string): TextReader {
  const found = new Map<string, ReadonlyMap<string, string>>()
  return (pattern, path) => {
    const texts = found.get(pattern) ?? extractTexts(json, pattern)
    found.set(pattern, texts)
    return texts.get(path)
  }
}

function writeBlock(block: JsonObject, index: number, readText: TextReader): string[] {
  const { start, deltas } = splitBlock(block, index, readText)
  return [
    write('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => write('content_block_delta', { index, delta })),
    write('content_block_stop', { index }),
  ]
}

interface SplitBlock {
  readonly start: unknown
  readonly deltas: readonly object[]
}

/** A block whose type has no deltas comes whole with its start. */
function splitBlock(block: JsonObject, index: number, readText: TextReader): SplitBlock {
  const { type, text, citations, thinking, signature, input } = block
  const path = `content.${index}`
  if (type === 'text') {
    const { citations: _, ...start } = block
    const cited = Array.isArray(citations) ? citations : []
    return {
      start: { ...start, text: '' },
      deltas: [
        ...(text ? [{ type: 'text_delta', text }] : []),
        ...cited.map((citation, at) => ({
          type: 'citations_delta',
          citation: keepJson(
            readText('content.*.citations.*', `${path}.citations.${at}`),
            citation,
          ),
        })),
      ],
    }
  }
  if (type === 'thinking') {
    return {
      start: { ...block, thinking: '', signature: '' },
      deltas: [
        ...(thinking ? [{ type: 'thinking_delta', thinking }] : []),
        ...(signature ? [{ type: 'signature_delta', signature }] : []),
      ],
    }
  }
  if (isObject(input)) {
    const json = readText('content.*.input', `${path}.input`) ?? '{}'
    return {
      start: { ...block, input: {} },
      deltas: json === '{}' ? [] : [{ type: 'input_json_delta', partial_json: json }],
    }
  }
  return { start: keepJson(readText('content.*', path), block), deltas: [] }
}
