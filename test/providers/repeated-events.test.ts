import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Frame, FrameDecoder } from '../../src/core/frame.ts'
import { NativeStream } from '../../src/providers/anthropic/native-stream.ts'
import { AnthropicStream } from '../../src/providers/anthropic/stream.ts'
import { ConverseStream } from '../../src/providers/bedrock/stream.ts'
import { createCohereDecoder } from '../../src/providers/cohere/stream.ts'
import { geminiModel } from '../../src/providers/google/models.ts'
import { NativeStream as NativeGemini } from '../../src/providers/google/native-stream.ts'
import { GeminiStream } from '../../src/providers/google/stream.ts'
import { chatChunks } from '../../src/providers/openai/chat.ts'
import { createResponsesDecoder } from '../../src/providers/openai/responses-stream.ts'
import { createOpenAiDecoder } from '../../src/providers/openai/stream.ts'
import { JsonPattern } from '../../src/wire/json/pattern.ts'
import { sameNames } from '../../src/wire/tool-names.ts'
import { awsEvent } from '../support/aws-event-stream.ts'
import { dialectTarget } from '../support/translated-kinds.ts'

interface Api {
  readonly createDecoder: () => FrameDecoder
  readonly encode?: (event: object) => Uint8Array
  /** Sent first: it names the stream. */
  readonly start?: object
  readonly event: fc.Arbitrary<object>
  /** The usual event with this text. */
  readonly toDelta: (text: string, at: number) => object
  /** Of the repeated events in the same bytes only the last has usage, because it is a running total. */
  readonly countsOnce?: true
}

const text = fc.oneof(
  fc.constantFrom('', ' word', 'id', '0', 'a "quote"\n', '\\', '👋 é', '"}}]}'),
  fc.string({ unit: 'binary', maxLength: 5 }),
)
const few = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
/** Mostly the first value, so that events repeat. */
const mostly = <Value>(first: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(first) }, { weight: 1, arbitrary: few(...others) })

/** Mostly a list of one value. */
const mostlyOne = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 8, arbitrary: fc.tuple(value) }, fc.array(value, { maxLength: 3 }))

const usage = { prompt_tokens: 3, completion_tokens: 4 }

const padding = fc.string({ unit: fc.constantFrom('a', 'B', '7'), maxLength: 4 })

const content = text.map((value): unknown => ({ content: value }))
const otherDelta: fc.Arbitrary<unknown> = fc.oneof(
  text.map((value) => ({ reasoning_content: value })),
  fc.record({ content: text, refusal: text }),
  text.map((value) => ({ tool_calls: [{ function: { arguments: value } }] })),
  few<unknown>({}, null, { thinking_blocks: [] }),
)

const choice = fc.record({
  index: mostly<unknown>(0, 1, -1, null),
  delta: fc.oneof({ weight: 8, arbitrary: content }, otherDelta),
  finish_reason: mostly<unknown>(null, 'stop'),
})

const chatChunk = fc.record({
  id: mostly('chatcmpl-1', 'chatcmpl-2', ''),
  created: mostly(1, 2),
  model: mostly('m', ''),
  choices: fc.oneof({ weight: 8, arbitrary: fc.tuple(choice) }, fc.tuple(choice, choice)),
  usage: mostly<unknown>(null, usage),
  error: mostly<unknown>(null, { message: 'broken' }),
  obfuscation: padding,
})

const delta = <Type extends string>(type: Type, field: string) =>
  fc.record({ index: mostly(0, 1), delta: text.map((value) => ({ type, [field]: value })) })
const ofType = (type: string) => (members: object) => ({ type, ...members })

const claudeEvent: fc.Arbitrary<object> = fc.oneof(
  { weight: 8, arbitrary: delta('text_delta', 'text').map(ofType('content_block_delta')) },
  delta('thinking_delta', 'thinking').map(ofType('content_block_delta')),
  delta('input_json_delta', 'partial_json').map(ofType('content_block_delta')),
  delta('citations_delta', 'citation').map(ofType('content_block_delta')),
  few<object>(
    { type: 'ping' },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_stop' },
  ),
)

const claudeStart = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 3 } } }

const toClaudeDelta = (value: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: value },
})

const inCommand = (block: fc.Arbitrary<object>) =>
  fc.record({
    type: mostly('content-delta', 'content-start'),
    index: mostly(0, 1),
    delta: block.map((value) => ({ message: { content: value } })),
  })

const converseDelta = fc.oneof(
  { weight: 8, arbitrary: text.map((value): object => ({ text: value })) },
  text.map((value) => ({ reasoningContent: { text: value } })),
  text.map((value) => ({ reasoningContent: { signature: value } })),
  text.map((value) => ({ toolUse: { input: value } })),
  fc.record({ text, toolUse: fc.record({ input: text }) }),
)

const toGeminiDelta = (value: string, count: number) => ({
  candidates: [{ content: { parts: [{ text: value }], role: 'model' }, index: 0 }],
  usageMetadata: {
    promptTokenCount: 3,
    candidatesTokenCount: count,
    totalTokenCount: 3 + count,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }],
  },
  modelVersion: 'm',
  responseId: 'r',
})

const geminiPart = fc.oneof(
  { weight: 8, arbitrary: text.map((value): object => ({ text: value })) },
  fc.record({ text, thought: fc.boolean() }),
  fc.record({ text, thoughtSignature: few('c2ln', 'bmF0') }),
  few<object>(
    { functionCall: { id: 'c1', name: 'f', args: { a: 1 } } },
    { functionCall: { id: 'c1', name: 'f', partialArgs: [{ jsonPath: '$.a', numberValue: 1.0 }] } },
    { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
    { executableCode: { code: '1' } },
  ),
)

const geminiCandidate = fc.record({
  content: mostlyOne(geminiPart).map((parts) => ({ parts, role: 'model' })),
  finishReason: mostly<unknown>(undefined, 'STOP', 'FINISH_REASON_UNSPECIFIED', 'NEW'),
  index: mostly<unknown>(0, 1, undefined),
  citationMetadata: mostly<unknown>(undefined, { citationSources: [{ uri: 'http://a.test' }] }),
})

const growing = fc.oneof(fc.nat(), few<unknown>(-1, 0.5, 1e15, '2', null, undefined))

const geminiEvent = fc.record({
  candidates: mostlyOne(geminiCandidate),
  usageMetadata: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        promptTokenCount: mostly<unknown>(3, 4, undefined),
        candidatesTokenCount: growing,
        totalTokenCount: growing,
        promptTokensDetails: mostly([{ modality: 'TEXT', tokenCount: 3 }], []),
        thoughtsTokenCount: growing,
      }),
    },
    few<unknown>(undefined, null, 7, { trafficType: 'ON_DEMAND' }),
  ),
  error: mostly<unknown>(undefined, { code: 503, message: 'broken', status: 'UNAVAILABLE' }),
  modelVersion: mostly('m', 'n'),
  responseId: few('r'),
})

const identity = { id: 'chatcmpl-1', created: 1, model: 'm' }

const apis: Readonly<Record<string, Api>> = {
  chat: {
    createDecoder: () => createOpenAiDecoder({ form: chatChunks, usage: 'not-asked' }),
    event: chatChunk,
    toDelta: (value, at) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: value }, logprobs: null, finish_reason: null }],
      usage: null,
      obfuscation: 'x'.repeat(at % 12),
    }),
  },
  messages: {
    createDecoder: () => new NativeStream(),
    event: claudeEvent,
    toDelta: toClaudeDelta,
  },
  responses: {
    createDecoder: createResponsesDecoder,
    event: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          type: mostly('response.output_text.delta', 'response.output_text.done', 'error'),
          sequence_number: fc.nat(),
          item_id: mostly('msg_1', 'msg_2'),
          delta: text,
          obfuscation: padding,
        }),
      },
      few<object>({ type: 'response.completed', response: { usage: { input_tokens: 1 } } }),
    ),
    toDelta: (value, at) => ({
      type: 'response.output_text.delta',
      sequence_number: at,
      item_id: 'msg_1',
      delta: value,
      logprobs: [],
      obfuscation: 'x'.repeat(at % 12),
    }),
  },
  anthropic: {
    createDecoder: () => new AnthropicStream({ modelId: 'm', created: 1, names: sameNames }),
    start: claudeStart,
    event: claudeEvent,
    toDelta: toClaudeDelta,
  },
  bedrock: {
    createDecoder: () => new ConverseStream({ identity, mask: (given) => given, names: sameNames }),
    encode: (event) => awsEvent('contentBlockDelta', event),
    event: fc.record({
      contentBlockIndex: mostly(0, 1),
      delta: converseDelta,
      p: padding,
    }),
    toDelta: (value, at) => ({
      contentBlockIndex: 0,
      delta: { text: value },
      p: 'abcdefghij'.slice(at % 10),
    }),
  },
  google: {
    createDecoder: () =>
      new GeminiStream({
        target: dialectTarget,
        model: geminiModel(dialectTarget.upstreamId),
        header: () => undefined,
        names: sameNames,
      }),
    event: fc.oneof(
      { weight: 2, arbitrary: fc.tuple(text, fc.nat()).map((given) => toGeminiDelta(...given)) },
      geminiEvent,
    ),
    toDelta: toGeminiDelta,
  },
  'google, native': {
    createDecoder: () =>
      new NativeGemini({
        model: geminiModel(dialectTarget.upstreamId),
        header: () => undefined,
      }),
    event: fc.oneof(
      { weight: 2, arbitrary: fc.tuple(text, fc.nat()).map((given) => toGeminiDelta(...given)) },
      geminiEvent,
    ),
    toDelta: toGeminiDelta,
    countsOnce: true,
  },
  cohere: {
    createDecoder: () =>
      createCohereDecoder({ created: 1, model: 'm', wantsLogprobs: false, names: sameNames }),
    start: { type: 'message-start', id: 'msg_1' },
    event: fc.oneof(
      { weight: 8, arbitrary: inCommand(fc.record({ text })) },
      inCommand(fc.record({ thinking: text })),
      inCommand(fc.record({ text, thinking: text })),
      text.map((value) => ({ type: 'tool-plan-delta', delta: { message: { tool_plan: value } } })),
      few<object>({ type: 'content-end', index: 0 }, { type: 'unknown' }),
    ),
    toDelta: (value) => ({
      type: 'content-delta',
      index: 0,
      delta: { message: { content: { text: value } } },
    }),
  },
}

const encodeSse = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)

/** The facts of frames, without the bytes and the absent members. */
const factsOf = (frames: readonly Frame[]) =>
  frames.map((frame) => JSON.parse(JSON.stringify({ ...frame, bytes: undefined })))

interface Reading {
  readonly chunks: readonly Uint8Array[]
  readonly countsOnce?: true | undefined
}

/** The frames of a stream, with their bytes as text; the last is the fault if a chunk cannot be decoded. */
function readAll(decoder: FrameDecoder, { chunks, countsOnce }: Reading): unknown[] {
  const read: unknown[] = []
  const add = (frames: readonly Frame[]) =>
    read.push(...(countsOnce ? keepLastUsage(frames) : frames).map(renderFrame))
  try {
    for (const chunk of chunks) add(decoder.push(chunk))
    add([...decoder.end()])
  } catch (error) {
    read.push(error)
  }
  return read
}

/** Leaves out the usage that a later frame of the same bytes replaces. */
function keepLastUsage(frames: readonly Frame[]): Frame[] {
  return frames.map((frame, at) =>
    frames.slice(at + 1).some((later) => later.usage) ? { ...frame, usage: undefined } : frame,
  )
}

/** Without the ids that decoders make up. */
function renderFrame(frame: Frame): string {
  const facts = JSON.stringify({ ...frame, bytes: Buffer.from(frame.bytes).toString() })
  return facts.replaceAll(/chatcmpl-\w{32}/g, 'made up')
}

function splitBytes(bytes: Uint8Array, length: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / length)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * length, (at + 1) * length))
}

describe.each(Object.entries(apis))('%s', (_api, api) => {
  const { event, encode = encodeSse, toDelta, countsOnce } = api
  const createDecoder = () => {
    const decoder = api.createDecoder()
    if (api.start) decoder.push(encode(api.start))
    return decoder
  }

  test('an event like an earlier one has the facts that it has when it is parsed', () => {
    const parse = vi.spyOn(JSON, 'parse')
    let unparsed = 0
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const [decoder, reference] = [createDecoder(), createDecoder()]
        events.forEach((one, at) => {
          parse.mockClear()
          const frames = decoder.push(encode(one))
          if (parse.mock.calls.length === 0) unparsed++
          // No other event has this member, so all of these are parsed.
          expect(factsOf(frames)).toEqual(factsOf(reference.push(encode({ ...one, unlike: at }))))
        })
        expect(factsOf([...decoder.end()])).toEqual(factsOf([...reference.end()]))
      }),
      { numRuns: 1000 },
    )
    parse.mockRestore()
    expect(unparsed).toBeGreaterThan(100)
  })

  test('damaged events, in chunks of any length, read as if each was parsed', () => {
    const words = fc.array(text, { minLength: 1, maxLength: 8 })
    const damage = fc.tuple(fc.nat(), few(...'"\\{}[],: 0x\n\u0001'))
    const damages = fc.array(damage, { maxLength: 2 })
    fc.assert(
      fc.property(words, damages, fc.integer({ min: 1, max: 600 }), (said, damaged, length) => {
        const bytes = Buffer.concat(said.map((word, at) => encode(toDelta(word, at))))
        for (const [at, byte] of damaged) bytes.write(byte, at % bytes.length)
        const chunks = splitBytes(bytes, length)
        const frames = readAll(createDecoder(), { chunks, countsOnce })
        const match = vi.spyOn(JsonPattern.prototype, 'match').mockReturnValue(undefined)
        expect(frames).toEqual(readAll(createDecoder(), { chunks, countsOnce }))
        match.mockRestore()
      }),
      { numRuns: 300 },
    )
  })

  test('of the deltas of a stream, few are parsed', () => {
    const decoder = createDecoder()
    const parse = vi.spyOn(JSON, 'parse')
    const words = Array.from({ length: 100 }, (_, at) => ` word ${at}`)
    const frames = words.flatMap((word, at) => decoder.push(encode(toDelta(word, at))))
    expect(parse.mock.calls.length).toBeLessThan(20)
    parse.mockRestore()
    expect(frames.map(({ output }) => output)).toEqual(words)
  })
})
