import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestId } from '../../../src/core/ids.ts'
import { toCompletionStream, toWholeCompletion } from '../../../src/doors/chat/forms.ts'
import { createChatWriter } from '../../../src/doors/chat/stream.ts'
import { createCompletionAnswer } from '../../../src/providers/canonical/completion.ts'
import { ChunkWriter, doneFrame, type FinishReason } from '../../../src/stream/chunk-writer.ts'
import { concat } from '../../../src/wire/byte-list.ts'
import type { Chunk } from '../../support/chunks.ts'
import { interleave } from '../../support/interleave.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { merges } from '../../support/merged-deltas.ts'
import { openSlice } from '../../support/open-slice.ts'
import { decodeText, joinLast } from '../../support/streams.ts'

const identity = { id: 'chatcmpl-1', created: 1, model: 'm' }
const usage = { promptTokens: 2, completionTokens: 3, totalTokens: 5, estimated: false }

/** A chunk's part of a choice. */
interface Piece {
  readonly delta: Readonly<Record<string, unknown>>
  readonly logprobs?: { readonly content: readonly object[] } | undefined
}

/** A choice of an answer, and the pieces in which a translated stream sends it. */
interface Choice {
  readonly message: Readonly<Record<string, unknown>>
  readonly pieces: readonly Piece[]
  readonly finish: FinishReason
  readonly extra: Readonly<Record<string, unknown>>
}

const word = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '🌍', '\n'),
  minLength: 1,
  maxLength: 5,
})
const words = fc.array(word, { maxLength: 4 })
const proof = { extra_content: { google: { thought_signature: 'c2ln' } } }
const maybeProof = fc.constantFrom({}, proof)
const thinking = { type: 'thinking', thinking: 'a', signature: 's', index: 2 }
const citation = { type: 'url_citation', url_citation: { url: 'u' } }
const image = { type: 'image_url', image_url: { url: 'data:' } }
const audioFacts = { id: 'audio_1', expires_at: 1, transcript: '' }
const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }

const call = fc.record({ name: word, texts: words, extra: maybeProof })

const choice: fc.Arbitrary<Choice> = fc
  .record({
    reasoning: words,
    blocks: fc.constantFrom([], [thinking], [thinking, thinking]),
    texts: words,
    tokens: fc.constantFrom(undefined, logprobs),
    refusal: fc.option(word, { nil: undefined }),
    calls: fc.array(call, { maxLength: 3 }),
    annotations: fc.constantFrom([], [citation], [citation, citation]),
    images: fc.constantFrom([], [image], [image, image]),
    audio: fc.array(fc.constantFrom('AA==', 'AAA=', 'AAAA'), { maxLength: 3 }),
    signed: maybeProof,
    finish: fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
    extra: fc.constantFrom({}, { native_finish_reason: 'SAFE' }),
  })
  .chain((given) => {
    const { reasoning, blocks, texts, tokens, refusal, calls, annotations, images, audio } = given
    const bytes = Buffer.concat(audio.map((text) => Buffer.from(text, 'base64')))
    const hasOther = calls.length > 0 || audio.length > 0 || refusal !== undefined
    const message = {
      content: texts.length === 0 && hasOther ? null : texts.join(''),
      ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
      ...(blocks.length > 0 && { thinking_blocks: blocks }),
      ...(refusal !== undefined && { refusal }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, texts: pieces, extra }, at) => ({
          ...startCall(at, name),
          function: { name, arguments: pieces.join('') },
          ...extra,
        })),
      }),
      ...(annotations.length > 0 && { annotations }),
      ...(images.length > 0 && { images }),
      ...(audio.length > 0 && { audio: { ...audioFacts, data: bytes.toString('base64') } }),
      ...given.signed,
    }
    const streams: Piece[][] = [
      [
        ...reasoning.map((text) => ({ delta: { reasoning_content: text } })),
        ...(blocks.length > 0 ? [{ delta: { thinking_blocks: blocks } }] : []),
      ],
      texts.map((content) => ({ delta: { content }, logprobs: tokens })),
      calls.flatMap(({ name, texts: pieces, extra }, index) => [
        { delta: { tool_calls: [{ index, ...startCall(index, name), ...extra }] } },
        ...pieces.map((text) => ({
          delta: { tool_calls: [{ index, function: { arguments: text } }] },
        })),
      ]),
      annotations.map((item, index) => ({ delta: { annotations: [{ index, ...item }] } })),
      images.map((item, index) => ({ delta: { images: [{ index, ...item }] } })),
      audio.map((data, at) => ({
        delta: { audio: at === 0 ? { ...audioFacts, data } : { data } },
      })),
      refusal === undefined ? [] : [{ delta: { refusal } }],
      'extra_content' in given.signed ? [{ delta: given.signed }] : [],
    ]
    return interleave(streams).map((pieces) => ({
      message,
      // They are the pieces of `streams`.
      pieces: pieces as Piece[],
      finish: given.finish,
      extra: given.extra,
    }))
  })

function startCall(at: number, name: string) {
  return { id: `call_${at}`, type: 'function', function: { name, arguments: '' } }
}

const choices = fc.array(choice, { minLength: 1, maxLength: 2 })

function writeWhole(given: readonly Choice[]): Uint8Array {
  const written = given.map(({ message, pieces, finish, extra }) => {
    const content = pieces.flatMap((piece) => piece.logprobs?.content ?? [])
    return {
      message: { content: null, ...message },
      finishReason: finish,
      extra,
      logprobs: content.length > 0 ? { content, refusal: null } : null,
    }
  })
  const answer = createCompletionAnswer({ ...identity, choices: written, usage: undefined })
  return answer.render(usage) as Uint8Array
}

function writeStream(given: readonly Choice[], wantsUsageChunk: boolean): Uint8Array {
  const context = { requestId: 'r' as RequestId, model: 'm', clock: new ManualClock() }
  const writer = createChatWriter(context, wantsUsageChunk)
  const frames = given.flatMap(({ pieces, finish, extra }, index) => {
    const chunks = new ChunkWriter(identity, index)
    const written = pieces.map(({ delta, logprobs: tokens }) =>
      tokens ? chunks.text(String(delta['content']), tokens) : chunks.delta(delta),
    )
    return [...written, chunks.finishChoice(finish, extra)]
  })
  // An answer says who it is.
  const named = frames.map((frame) => writer.write({ ...frame, identity }))
  return concat([...named, joinLast(writer.complete(doneFrame, { usage, isInBytes: false }))])
}

function parseChunks(stream: Uint8Array): Chunk[] {
  const blocks = decodeText(stream).split('\n\n')
  expect(blocks.slice(-2)).toEqual(['data: [DONE]', ''])
  return blocks.slice(0, -2).map((text) => JSON.parse(text.replace(/^data: /, '')))
}

interface Completion {
  readonly choices: readonly { readonly message: Record<string, unknown> }[]
  readonly usage: object
}

function parse(body: Uint8Array): Completion {
  return JSON.parse(decodeText(body))
}

test('a translated stream that is converted becomes the whole answer', async () => {
  await fc.assert(
    fc.asyncProperty(choices, fc.boolean(), async (given, wantsUsageChunk) => {
      const converted = await toWholeCompletion(writeStream(given, wantsUsageChunk), openSlice())
      expect(parse(converted)).toEqual(parse(writeWhole(given)))
    }),
    { numRuns: 500 },
  )
})

test.each(Object.entries(merges))(
  'a whole answer that is converted is merged to itself by %s',
  async (_, merge) => {
    await fc.assert(
      fc.asyncProperty(choice, async (given) => {
        const body = writeWhole([given])
        const { content, ...members } = parse(body).choices[0]?.message ?? {}
        const { content: text, ...merged } = await merge(
          parseChunks(toCompletionStream(body, true)),
        )
        expect(text || null).toEqual(content || null)
        expect(merged).toMatchObject(members)
      }),
      { numRuns: 200 },
    )
  },
)

test('a whole answer keeps every choice, and its stream has the usage chunk that is asked for', async () => {
  await fc.assert(
    fc.asyncProperty(choices, fc.boolean(), async (given, wantsUsageChunk) => {
      const body = writeWhole(given)
      const stream = toCompletionStream(body, wantsUsageChunk)
      expect(parse(await toWholeCompletion(stream, openSlice()))).toEqual(parse(body))
      expect(parseChunks(stream).at(-1)).toEqual(
        parseChunks(writeStream(given, wantsUsageChunk)).at(-1),
      )
    }),
    { numRuns: 300 },
  )
})

test("converting keeps the numbers of the vendor's own blocks", async () => {
  const blocks = '{"family":"google","content":[{"n":12345678901234567890},{"n":1.0}]}'
  const message = `{"role":"assistant","content":"a","provider_content":${blocks}}`
  const list = `[{"index":0,"message":${message},"logprobs":null,"finish_reason":"stop"}]`
  const body = `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":${list},"usage":{}}`
  const stream = toCompletionStream(new TextEncoder().encode(body), true)
  expect(decodeText(stream)).toContain(`"provider_content":${blocks}`)
  expect(decodeText(await toWholeCompletion(stream, openSlice()))).toBe(body)
})
