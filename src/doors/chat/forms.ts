import type { Frame, StreamIdentity } from '../../core/frame.ts'
import type { BufferedBody } from '../../core/ports.ts'
import {
  ChunkWriter,
  doneFrame,
  encodeDataEvent,
  type FinishReason,
  unrequestedChoices,
} from '../../stream/chunk-writer.ts'
import { concat } from '../../wire/byte-list.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractTexts } from '../../wire/json/text.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { decodeBody, readWrittenEvents } from '../written-answer.ts'
import { WrittenChoice } from './written-choice.ts'

const encoder = new TextEncoder()

/** Returns the whole completion that a stream amounts to. The gateway has written the stream. */
export async function toWholeCompletion(
  stream: BufferedBody,
  slice: TimeSlice,
): Promise<Uint8Array> {
  let identity: object = {}
  let usage: unknown
  const choices: WrittenChoice[] = []
  const read = ({ id, created, model, choices: added, usage: counted }: JsonObject) => {
    identity = { id, object: 'chat.completion', created, model }
    usage = counted ?? usage
    for (const choice of listObjects(added)) {
      const index = Number(choice['index'])
      choices[index] ??= new WrittenChoice(index)
      choices[index].add(choice)
    }
  }
  for await (const chunks of readWrittenEvents(stream, slice, parseChunk)) chunks.forEach(read)
  const rendered = Object.values(choices).map((choice) => choice.render())
  return encoder.encode(stringifyJson({ ...identity, choices: rendered, usage }))
}

function parseChunk(json: string): JsonObject {
  return keepNumbers(json, JSON.parse(json), 'delta')
}

/** Replaces the vendor's own blocks by their text: parsing has rounded large numbers in them. */
function keepNumbers(json: string, value: JsonObject, holder: 'delta' | 'message'): JsonObject {
  if (!json.includes('"provider_content"')) return value
  const texts = extractTexts(json, `choices.*.${holder}.provider_content`)
  const choices = listObjects(value['choices']).map((choice, at) => {
    const text = texts.get(`choices.${at}.${holder}.provider_content`)
    const held = isObject(choice[holder]) ? choice[holder] : {}
    if (text === undefined) return choice
    return { ...choice, [holder]: { ...held, provider_content: new RawJson(text) } }
  })
  return { ...value, choices }
}

/** Returns the stream of a whole completion that the gateway has written. */
export function toCompletionStream(whole: BufferedBody, wantsUsageChunk: boolean): Uint8Array {
  const json = decodeBody(whole)
  const value = JSON.parse(json)
  const { choices } = keepNumbers(json, value, 'message')
  const { id, created, model, usage } = value
  const identity: StreamIdentity = { id, created, model }
  const usageChunk = encodeDataEvent({
    ...identity,
    object: 'chat.completion.chunk',
    choices: wantsUsageChunk ? [] : unrequestedChoices,
    usage,
  })
  const chunks = listObjects(choices).flatMap((choice) => writeChoice(choice, identity))
  return concat([...chunks, usageChunk, doneFrame.bytes])
}

/** Writes a choice in one chunk for each member of its message, and one for its end. */
function writeChoice(choice: JsonObject, identity: StreamIdentity): Uint8Array[] {
  const { index, message, logprobs, finish_reason: finish, ...extra } = choice
  const writer = new ChunkWriter(identity, Number(index))
  const { role: _, content, tool_calls: calls, ...members } = isObject(message) ? message : {}
  const {
    reasoning_content: reasoning,
    thinking_blocks: thinking,
    provider_content: carried,
    ...others
  } = members
  const text = typeof content === 'string' ? content : ''
  const frames = [
    ...(typeof reasoning === 'string' ? [writer.reasoning(reasoning)] : []),
    ...(thinking === undefined ? [] : [writer.delta({ thinking_blocks: thinking })]),
    ...(text !== '' || logprobs ? [writer.text(text, logprobs ?? undefined)] : []),
    ...listObjects(calls).flatMap((call, at) => writeCall(call, { writer, at })),
    ...Object.entries(others).map(([name, value]) => writer.delta({ [name]: addIndexes(value) })),
    ...(carried instanceof RawJson ? [writer.providerContent(carried)] : []),
    // The gateway has written the reason, so it is one of those that the API has.
    writer.finishChoice(finish as FinishReason, extra),
  ]
  return frames.map(({ bytes }) => bytes)
}

function writeCall(
  call: JsonObject,
  { writer, at }: { readonly writer: ChunkWriter; readonly at: number },
): Frame[] {
  const { id, type: _, function: called, ...extra } = call
  const { name, arguments: given } = isObject(called) ? called : {}
  return [
    writer.toolCall({ index: at, id: String(id), name: String(name), extra }),
    writer.toolArguments(at, String(given)),
  ]
}

/** Gives the items of a list their indexes, by which some SDKs merge the lists of several chunks. */
function addIndexes(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item, index) => ({ index, ...item })) : value
}

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
