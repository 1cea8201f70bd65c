import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import type { Frame, FrameDecoder } from '../../../src/core/frame.ts'
import { readChat } from '../../../src/doors/chat/request.ts'
import { bindNative, getKind } from '../../../src/providers/index.ts'
import { openSlice } from '../../support/open-slice.ts'
import { bindChat, dialectTarget } from '../../support/translated-kinds.ts'
import { vendorStreams } from '../../support/vendor-streams.ts'
import { readStreams } from '../fixtures.ts'
import { attempt, type FuzzTarget, splitInput, toBytes } from '../target.ts'
import { withChecksums } from './aws-event-stream.ts'
import { isUpstreamFault } from './faults.ts'
import { readByStandard } from './sse.ts'

/*
 * The decoders of the vendors' streams. The frames mean the same however the bytes are split, and a
 * translated stream consists of whole events with valid JSON.
 */

export const call = await readChat({
  bytes: toBytes('{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true}'),
  slice: openSlice(),
  isUtf8,
})

const words = [
  '\n\n',
  '\r\n\r\n',
  'data: ',
  'data: [DONE]\n\n',
  'event: error\n',
  '"error":',
  '"message":"x"',
  '"type":"error"',
  'null',
  '[]',
  '{}',
  '-1',
  '1e400',
  '"\\ud83e"',
  '"stop"',
  '"index":1',
  '"index":-1',
  '"index":1e9',
  '"usage":{}',
]

export const openaiStream: FuzzTarget = {
  seeds: vendorStreams.filter(({ status }) => status === undefined).map(({ sent }) => sent),
  words: [
    ...words,
    '"choices":[]',
    '"finish_reason":"stop"',
    '"delta":{"content":[]}',
    '"tool_calls":',
  ],
  check: checkChat('openai'),
}

export const anthropicStream: FuzzTarget = {
  seeds: readStreams('anthropic'),
  words: [...words, '"content_block_delta"', '"message_stop"', '"thinking"', '"input_json_delta"'],
  check: checkChat('anthropic'),
}

export const googleStream: FuzzTarget = {
  seeds: readStreams('google'),
  words: [
    ...words,
    '"candidates":',
    '"finishReason":"STOP"',
    '"parts":',
    '"functionCall":',
    '"thought":true',
  ],
  check: checkChat('google'),
}

export const bedrockStream: FuzzTarget = {
  seeds: readStreams('bedrock'),
  words: [...words, '"contentBlockIndex":', '"messageStop"', '"toolUse":', ':exception-type'],
  check: checkChat('bedrock', withChecksums),
}

export const cohereStream: FuzzTarget = {
  seeds: readStreams('cohere'),
  words: [...words, '"message-end"', '"tool-call-delta"', '"citation-start"', '"content-delta"'],
  check: checkChat('cohere'),
}

export const messagesStream: FuzzTarget = {
  ...anthropicStream,
  check: checkNative('anthropic', 'messages'),
}

export const responsesStream: FuzzTarget = {
  seeds: [
    responsesEvents(
      { type: 'response.created', response: { id: 'r', output: [] } },
      { type: 'response.output_text.delta', item_id: 'i', output_index: 0, delta: 'Hi' },
      {
        type: 'response.completed',
        response: { id: 'r', output: [], usage: { input_tokens: 3, output_tokens: 1 } },
      },
    ),
    responsesEvents({ type: 'error', code: 'server_error', message: 'x' }),
    responsesEvents({ type: 'response.failed', response: { error: { code: 'a', message: 'b' } } }),
  ],
  words: [...words, '"response.completed"', '"response.incomplete"', '"response":', '"delta":'],
  check: checkNative('openai', 'responses'),
}

function responsesEvents(
  ...events: readonly { readonly type: string; readonly [field: string]: unknown }[]
): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function checkChat(
  name: string,
  prepare: (input: Uint8Array) => Uint8Array = (input) => input,
): FuzzTarget['check'] {
  const endpoint = bindChat(getKind(name))
  assert.ok(endpoint)
  return (input) => {
    const frames = checkDecoder(() => endpoint.createDecoder(call, () => undefined), prepare(input))
    if (endpoint.writesAnswers) checkEvents(frames)
  }
}

function checkNative(name: string, api: 'messages' | 'responses'): FuzzTarget['check'] {
  const endpoint = bindNative(getKind(name), { ...dialectTarget, speaksResponses: true })[api]
  assert.ok(endpoint)
  const native = { ...call, layout: { ...call.layout }, headers: {}, query: '' }
  return (input) => {
    checkDecoder(() => endpoint.createDecoder(native, () => undefined), input)
  }
}

/** Returns the frames of the whole input. */
function checkDecoder(create: () => FrameDecoder, input: Uint8Array): readonly Frame[] {
  const { whole, pieces } = splitInput(input)
  const one = decode(create(), [whole])
  const many = decode(create(), pieces)
  assert.equal(many.isFault, one.isFault)
  // A piece that is malformed has no frames, so a smaller piece may show more of them.
  if (one.isFault) return one.frames
  assert.deepEqual(summarize(many.frames), summarize(one.frames))
  for (const { output = '', outputBytes, kind, failure } of one.frames) {
    assert.equal(outputBytes, Buffer.byteLength(output))
    assert.equal(failure !== undefined, kind === 'error')
  }
  return one.frames
}

/** Decodes up to the frame that ends the stream, as the pipeline does. */
function decode(decoder: FrameDecoder, pieces: readonly Uint8Array[]) {
  const frames: Frame[] = []
  const add = (more: readonly Frame[]) => {
    for (const frame of more) if (!isOver(frames)) frames.push(frame)
  }
  const outcome = attempt(() => {
    for (const piece of pieces) if (!isOver(frames)) add(decoder.push(piece))
    if (!isOver(frames)) add([...decoder.end()])
  }, isUpstreamFault)
  return { frames, isFault: 'failed' in outcome }
}

function isOver(frames: readonly Frame[]): boolean {
  const last = frames.at(-1)?.kind
  return last === 'done' || last === 'error'
}

/** What a stream means, without how its frames are cut. */
function summarize(frames: readonly Frame[]): unknown {
  const summary = {
    events: readByStandard(Buffer.concat(frames.map(({ bytes }) => bytes))),
    kinds: frames.map(({ kind }) => kind).filter((kind) => kind !== 'quiet' && kind !== 'ping'),
    failures: frames.map(({ failure }) => failure).filter((failure) => failure !== undefined),
    output: frames.map(({ output }) => output ?? '').join(''),
    choices: frames.flatMap(({ choices }) => choices ?? []),
    usage: frames.findLast(({ usage }) => usage !== undefined)?.usage,
    finished: frames.findLast(({ finished }) => finished !== undefined)?.finished,
  }
  // The gateway makes up ids where the vendor gives none.
  return JSON.parse(JSON.stringify(summary).replaceAll(/(chatcmpl-|call_)[\da-f]{8,}/g, '$1'))
}

/** Fails on anything but whole events whose data is JSON or `[DONE]`. */
function checkEvents(frames: readonly Frame[]): void {
  for (const { bytes, kind } of frames) {
    const text = Buffer.from(bytes).toString()
    // The bytes of an error are replaced by the error of the gateway.
    if (text === '' || kind === 'error') continue
    assert.match(text, /\n\n$/)
    for (const event of text.slice(0, -2).split('\n\n')) {
      const [, data = ''] = /^data: (.*)$/.exec(event) ?? assert.fail(event)
      if (data !== '[DONE]') JSON.parse(data)
    }
  }
}
