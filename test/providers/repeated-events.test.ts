import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Frame, FrameDecoder } from '../../src/core/frame.ts'
import { NativeStream } from '../../src/providers/anthropic/native-stream.ts'
import { AnthropicStream } from '../../src/providers/anthropic/stream.ts'
import { ConverseStream } from '../../src/providers/bedrock/stream.ts'
import { createCohereDecoder } from '../../src/providers/cohere/stream.ts'
import { chatChunks } from '../../src/providers/openai/chat.ts'
import { createResponsesDecoder } from '../../src/providers/openai/responses-stream.ts'
import { createOpenAiDecoder } from '../../src/providers/openai/stream.ts'
import { awsEvent } from '../support/aws-event-stream.ts'

interface Api {
  readonly createDecoder: () => FrameDecoder
  readonly encode?: (event: object) => Uint8Array
  /** Sent first: it names the stream. */
  readonly start?: object
  readonly event: fc.Arbitrary<object>
  /** The usual event with this text. */
  readonly toDelta: (text: string, at: number) => object
}

const text = fc.oneof(
  fc.constantFrom('', ' word', 'id', '0', 'a "quote"\n', '\\', '👋 é', '"}}]}'),
  fc.string({ unit: 'binary', maxLength: 5 }),
)
const few = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
/** Mostly the first value, so that events repeat. */
const mostly = <Value>(first: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(first) }, { weight: 1, arbitrary: few(...others) })

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

const identity = { id: 'chatcmpl-1', created: 1, model: 'm' }

const apis: Readonly<Record<string, Api>> = {
  chat: {
    createDecoder: () =>
      createOpenAiDecoder({ form: chatChunks, usage: 'not-asked', readsChoices: false }),
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
    createDecoder: () => new AnthropicStream({ modelId: 'm', created: 1 }),
    start: claudeStart,
    event: claudeEvent,
    toDelta: toClaudeDelta,
  },
  bedrock: {
    createDecoder: () => new ConverseStream({ identity, mask: (given) => given }),
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
  cohere: {
    createDecoder: () => createCohereDecoder({ created: 1, model: 'm', wantsLogprobs: false }),
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

describe.each(Object.entries(apis))('%s', (_api, api) => {
  const { event, encode = encodeSse, toDelta } = api
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
      }),
      { numRuns: 1000 },
    )
    parse.mockRestore()
    expect(unparsed).toBeGreaterThan(100)
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
