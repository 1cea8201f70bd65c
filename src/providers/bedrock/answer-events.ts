import type { AnswerBody } from '../../core/endpoints.ts'
import { encodeAwsMessage } from '../../wire/aws-event-stream.ts'
import { concat } from '../../wire/byte-list.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { keepJson } from '../base/answer-events.ts'

/**
 * Writes a whole answer as the stream of ConverseStream, for an upstream that answered a streamed request so.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export function writeAnswerEvents({ value, text }: AnswerBody): Uint8Array {
  const { output, stopReason, usage, trace, serviceTier } = toMembers(value)
  const { content } = toMembers(toMembers(output)['message'])
  const texts = (pattern: string) => extractTexts(text, `output.message.content.*.${pattern}`)
  const source: BlockSource = {
    inputs: texts('toolUse.input'),
    citations: texts('citationsContent.citations.*'),
    results: texts('toolResult.content.*'),
  }
  const blocks = Array.isArray(content) ? content : []
  return concat([
    write('messageStart', { role: 'assistant' }),
    ...blocks.flatMap((block, index) => writeBlock(toMembers(block), index, source)),
    write('messageStop', { stopReason }),
    write('metadata', { usage, trace, serviceTier }),
  ])
}

/** The JSON texts of what could not be parsed without loss, by their paths. */
interface BlockSource {
  readonly inputs: ReadonlyMap<string, string>
  readonly citations: ReadonlyMap<string, string>
  readonly results: ReadonlyMap<string, string>
}

function writeBlock(block: JsonObject, index: number, source: BlockSource): Uint8Array[] {
  const { start, deltas } = splitBlock(block, `output.message.content.${index}`, source)
  const at = { contentBlockIndex: index }
  return [
    ...(start ? [write('contentBlockStart', { ...at, start })] : []),
    ...deltas.map((delta) => write('contentBlockDelta', { ...at, delta })),
    write('contentBlockStop', at),
  ]
}

interface SplitBlock {
  /** Texts and reasoning have no start. */
  readonly start?: object
  readonly deltas: readonly object[]
}

function splitBlock(block: JsonObject, path: string, source: BlockSource): SplitBlock {
  const { text, toolUse, toolResult, reasoningContent, citationsContent, image } = block
  if (isObject(toolUse)) {
    const { input: _, ...start } = toolUse
    const input = source.inputs.get(`${path}.toolUse.input`)
    return { start: { toolUse: start }, deltas: input ? [{ toolUse: { input } }] : [] }
  }
  if (isObject(toolResult)) {
    const { content, ...start } = toolResult
    const results = keepItems(content, source.results, `${path}.toolResult.content`)
    return { start: { toolResult: start }, deltas: [{ toolResult: results }] }
  }
  if (isObject(reasoningContent)) return { deltas: listThoughts(reasoningContent) }
  if (isObject(citationsContent)) {
    const { content, citations } = citationsContent
    const texts = Array.isArray(content) ? content.map(toMembers) : []
    const kept = keepItems(citations, source.citations, `${path}.citationsContent.citations`)
    return {
      deltas: [
        ...texts.map((part) => ({ text: part['text'] })),
        ...kept.map((citation) => ({ citation })),
      ],
    }
  }
  if (image !== undefined) return { start: { image }, deltas: [] }
  return { deltas: text ? [{ text }] : [] }
}

function listThoughts({ reasoningText, redactedContent }: JsonObject): object[] {
  if (redactedContent) return [{ reasoningContent: { redactedContent } }]
  const { text, signature } = toMembers(reasoningText)
  return [
    ...(text ? [{ reasoningContent: { text } }] : []),
    ...(signature ? [{ reasoningContent: { signature } }] : []),
  ]
}

function keepItems(items: unknown, texts: ReadonlyMap<string, string>, path: string): unknown[] {
  if (!Array.isArray(items)) return []
  return items.map((item, at) => keepJson(texts.get(`${path}.${at}`), item))
}

function write(type: string, payload: object): Uint8Array {
  const headers = { ':event-type': type, ':message-type': 'event' }
  return encodeAwsMessage(headers, encoder.encode(stringifyJson(payload)))
}

const encoder = new TextEncoder()

function toMembers(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
