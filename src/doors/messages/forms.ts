import * as z from 'zod'
import { unknownUsage } from '../../core/messages-usage.ts'
import type { BufferedBody } from '../../core/ports.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractItems } from '../../wire/json/text.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { type AnswerForms, decodeBody, readWrittenEvents } from '../written-answer.ts'
import { renderEvent } from './events.ts'

/** The forms of a message that the gateway has written. */
export const messageForms: AnswerForms = Object.freeze({ toWhole, toStream })

const object = z.record(z.string(), z.unknown())

/** The events of a stream of ours; those without content are left out. */
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: object }),
  z.object({ type: z.literal('content_block_start'), content_block: object }),
  z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('message_delta'), delta: object, usage: object }),
])

const encoder = new TextEncoder()

async function toWhole(stream: BufferedBody, slice: TimeSlice): Promise<Uint8Array> {
  let message: JsonObject = {}
  const content: Record<string, unknown>[] = []
  const read = (one: JsonObject) => {
    const { data } = event.safeParse(one)
    switch (data?.type) {
      case 'message_start':
        message = data.message
        break
      case 'content_block_start':
        content.push(data.content_block)
        break
      case 'content_block_delta':
        addDelta(content.at(-1) ?? {}, data.delta)
        break
      case 'message_delta':
        message = { ...message, ...data.delta, usage: data.usage }
        break
      default:
    }
  }
  for await (const events of readWrittenEvents(stream, slice)) events.forEach(read)
  return encoder.encode(stringifyJson({ ...message, content: content.map(toWholeBlock) }))
}

/** Appends the texts of a delta. Those of an input are collected under the name that they have there. */
function addDelta(
  block: Record<string, unknown>,
  delta: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, piece] of Object.entries(delta)) {
    block[name] = `${block[name] ?? ''}${piece ?? ''}`
  }
}

function toWholeBlock({ partial_json: input, ...block }: JsonObject): JsonObject {
  if (block['type'] === 'text') return { ...block, citations: null }
  return typeof input === 'string' ? { ...block, input: new RawJson(input) } : block
}

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
})

const whole = z.object({
  content: z.array(block),
  stop_reason: z.unknown(),
  stop_sequence: z.unknown(),
  stop_details: z.unknown(),
  usage: object,
})

function toStream(body: BufferedBody): Uint8Array {
  const json = decodeBody(body)
  const value = JSON.parse(json)
  const { content, stop_reason, stop_sequence, stop_details, usage } = whole.parse(value)
  // From the text itself: parsing would round large numbers.
  const inputs = extractItems(json, 'content.*.input')
  const message = {
    ...value,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: unknownUsage,
  }
  const blocks = content.map((each, index) =>
    renderBlock(each, { index, input: inputs.get(index) }),
  )
  const delta = { stop_reason, stop_sequence, stop_details }
  const events = [
    renderEvent('message_start', { message }),
    ...blocks,
    renderEvent('message_delta', { delta, usage }),
    renderEvent('message_stop', {}),
  ]
  return encoder.encode(events.join(''))
}

interface BlockPlace {
  readonly index: number
  /** The text of the `input` of a call. */
  readonly input: string | undefined
}

function renderBlock(each: z.infer<typeof block>, { index, input }: BlockPlace): string {
  const { text, thinking, signature, citations: _, ...rest } = each
  const start = {
    ...rest,
    ...(text !== undefined && { text: '' }),
    ...(thinking !== undefined && { thinking: '' }),
    ...(signature !== undefined && { signature: '' }),
    ...(input !== undefined && { input: {} }),
  }
  const deltas = [
    text && { type: 'text_delta', text },
    thinking && { type: 'thinking_delta', thinking },
    signature && { type: 'signature_delta', signature },
    input && input !== '{}' && { type: 'input_json_delta', partial_json: input },
  ].filter((delta) => typeof delta === 'object')
  return [
    renderEvent('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => renderEvent('content_block_delta', { index, delta })),
    renderEvent('content_block_stop', { index }),
  ].join('')
}
