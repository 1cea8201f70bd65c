import { describe, expect, test } from 'vitest'
import type { TokenEncoding, Tokenizer } from '../../src/index.ts'
import { chunk, completion, done, hello, role, stop, wholeStream } from '../support/answers.ts'
import { complete, textAnswer, textChunk } from '../support/completions.ts'
import { embed, readOkBody, vectors } from '../support/embed.ts'
import { series } from '../support/exposition.ts'
import { oneProvider, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, stream } from '../support/scripted-upstream.ts'
import { readStream, StreamReader, settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const accurate = (upstreamId = 'gpt-4o') =>
  `tokenizer.mode = "accurate"\n${oneProvider.replace('upstream-m', upstreamId)}`

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
/** Three tokens for the message and three for the reply. */
const overhead = 6
/** The logged usage of the answer `Hi` when it is estimated by its bytes. */
const byBytes = { tokens_in: 8, tokens_out: 1, estimated: true }

interface CountCall {
  readonly encoding: TokenEncoding
  readonly texts: readonly string[]
  readonly resolve: (counts: readonly number[] | undefined) => void
  readonly reject: (error: Error) => void
}

/** A tokenizer that counts when the test calls `answer`. */
class HeldTokenizer implements Tokenizer {
  readonly calls: CountCall[] = []

  count(encoding: TokenEncoding, texts: readonly string[]): Promise<readonly number[] | undefined> {
    return new Promise((resolve, reject) => {
      this.calls.push({ encoding, texts, resolve, reject })
    })
  }

  /** Counts 10 tokens for every text. */
  async answer(): Promise<void> {
    for (const { texts, resolve } of this.calls) resolve(texts.map(() => 10))
    await settled()
  }
}

async function gatewayWith(tokenizer: Tokenizer | undefined, config = accurate()) {
  return watchedGateway(config, { tokenizer })
}

function settlements({ log }: TestGateway): number {
  return log.filter(({ message }) => message === 'request').length
}

describe('an upstream that reports no usage', () => {
  test('the answer has the estimate at once; metrics and log have the exact count, once', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    gateway.upstream.next(json(completion('Hello', {})))
    const answer = (await (await gateway.chat(request)).json()) as { usage: object }
    expect(answer.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 2, estimated: true })
    expect(tokenizer.calls).toMatchObject([
      { encoding: 'o200k_base', texts: ['user', 'Hi', 'Hello'] },
    ])
    expect(gateway.gateway.inFlight).toBe(0)
    expect(settlements(gateway)).toBe(0)

    await tokenizer.answer()
    expect(settlement(gateway.log)).toMatchObject({
      status: 200,
      tokens_in: overhead + 20,
      tokens_out: 10,
      estimated: true,
    })
    const text = await (await gateway.get('/metrics')).text()
    expect(series(text, 'gateway_tokens_total').map(({ value }) => value)).toEqual([26, 10])
  })

  test('a stream’s text is counted as one, calls and reasoning included', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    const called = { tool_calls: [{ index: 0, function: { name: 'sum', arguments: '{}' } }] }
    const chunks = [role, chunk({ reasoning: 'hm' }), hello, chunk(called), stop, done]
    gateway.upstream.next(stream(chunks))
    expect(await readStream(gateway)).toContain('"estimated":true')
    expect(tokenizer.calls[0]?.texts.at(-1)).toBe('hmHellosum{}')
    await tokenizer.answer()
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 26, tokens_out: 10 })
  })

  test('the part sent to a client that left is counted', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const reader = new StreamReader(await gateway.chat(streamed()))
    await reader.next()
    await reader.leave()
    expect(tokenizer.calls[0]?.texts.at(-1)).toBe('Hello')
    await tokenizer.answer()
    expect(settlement(gateway.log)).toMatchObject({ status: 499, tokens_out: 10 })
  })

  test('several choices of a whole answer are counted exactly, those of a stream by bytes', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    gateway.upstream.next(stream([role, hello, stop, done]))
    await readStream(gateway, { n: 2 })
    expect(settlement(gateway.log)).toMatchObject({ tokens_out: 2 })
    expect(tokenizer.calls).toEqual([])
    gateway.upstream.next(json(completion('Hello', {})))
    await gateway.chat({ ...request, n: 2 })
    expect(tokenizer.calls).toHaveLength(1)
    await tokenizer.answer()
  })

  test.each([
    ['just at the limit', 1024 * 1024, 1],
    ['over the limit', 1024 * 1024 + 1, 0],
  ])('a stream whose text is %s of 1 MiB', async (_, length, counts) => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    const half = chunk({ content: 'a'.repeat(length / 2) })
    const rest = chunk({ content: 'a'.repeat(length - Math.floor(length / 2)) })
    gateway.upstream.next(stream([role, half, rest, stop, done]))
    await readStream(gateway)
    expect(tokenizer.calls).toHaveLength(counts)
    await tokenizer.answer()
    expect(settlements(gateway)).toBe(1)
  })
})

describe('text completions without reported usage', () => {
  test.each([
    ['a text', { prompt: 'Hi' }, ['Hi', ' four'], 10],
    [
      'texts, each with the suffix',
      { prompt: ['a', 'b'], suffix: 'c' },
      ['a', 'b', 'c', 'c', ' four'],
      40,
    ],
    ['token ids, one each', { prompt: [1, 2, 3] }, [' four'], 3],
  ])('%s: the record has the exact count', async (_, fields, counted, count) => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer, accurate('gpt-3.5-turbo-instruct'))
    gateway.upstream.next(textAnswer(' four', {}))
    await (await complete(gateway, fields)).text()
    expect(tokenizer.calls).toMatchObject([{ encoding: 'cl100k_base', texts: counted }])
    await tokenizer.answer()
    expect(settlement(gateway.log)).toMatchObject({
      tokens_in: count,
      tokens_out: 10,
      estimated: true,
    })
  })

  test('a stream of one text is counted too', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer, accurate('davinci-002'))
    gateway.upstream.next(stream([textChunk('a') + textChunk('b', 'stop') + done]))
    await (await complete(gateway, { prompt: 'Hi', stream: true })).text()
    expect(tokenizer.calls).toMatchObject([{ texts: ['Hi', 'ab'] }])
    await tokenizer.answer()
  })
})

describe('embeddings without reported usage', () => {
  const embeds = accurate('text-embedding-3-small').replace(
    'id = "m"',
    'id = "m"\ncapabilities = ["embed"]\nmodalities = ["text", "image"]',
  )

  test.each([
    ['a text', 'Hi', ['Hi', ''], 10],
    ['texts', ['Hi', [{ type: 'text', text: 'you' }]], ['Hi', 'you', ''], 20],
    ['token ids, one each', [[1, 2, 3], [4]], [''], 4],
  ])(
    '%s: the answer has the estimate, the record the exact count',
    async (_, input, counted, count) => {
      const tokenizer = new HeldTokenizer()
      const gateway = await gatewayWith(tokenizer, embeds)
      gateway.upstream.next(vectors(Array.isArray(input) ? input.map(() => [1]) : [[1]]))
      const { usage } = await readOkBody(await embed(gateway, { input }))
      expect(usage).toMatchObject({ estimated: true })
      expect(tokenizer.calls).toMatchObject([{ encoding: 'cl100k_base', texts: counted }])
      for (const { texts, resolve } of tokenizer.calls)
        resolve(texts.map((text) => (text === '' ? 0 : 10)))
      await settled()
      expect(settlement(gateway.log)).toMatchObject({
        tokens_in: count,
        tokens_out: 0,
        estimated: true,
      })
    },
  )

  test('embeddings with reported usage are not counted again', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer, embeds)
    gateway.upstream.next(vectors([[1]], 7))
    await embed(gateway, { input: 'Hi' })
    expect(tokenizer.calls).toEqual([])
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 7, estimated: false })
  })
})

describe('records that are written at once, without a count', () => {
  test.each([
    ['when the upstream has reported', accurate(), json(completion('Hi'))],
    ['for a model of another vendor', accurate('claude'), json(completion('Hi', {}))],
    ['in heuristic mode', oneProvider.replace('upstream-m', 'gpt-4o'), json(completion('Hi', {}))],
  ])('%s', async (_, config, answer) => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer, config)
    gateway.upstream.next(answer)
    await gateway.chat(request)
    expect(tokenizer.calls).toEqual([])
    expect(settlements(gateway)).toBe(1)
  })

  test('a stream with reported usage is not counted', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    gateway.upstream.next(stream([wholeStream]))
    await readStream(gateway)
    expect(tokenizer.calls).toEqual([])
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 9, estimated: false })
  })
})

describe('records that keep the estimate', () => {
  test.each([
    ['does not count', async () => undefined],
    ['fails', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
  ])('the estimate stays when the tokenizer %s', async (_, count) => {
    const gateway = await gatewayWith({ count })
    gateway.upstream.next(json(completion('Hi', {})))
    await gateway.chat(request)
    await settled()
    expect(settlement(gateway.log)).toMatchObject(byBytes)
  })

  test('the estimate stays on a host without a tokenizer, which warns once at boot', async () => {
    const gateway = await gatewayWith(undefined)
    gateway.upstream.always(json(completion('Hi', {})))
    await gateway.chat(request)
    expect(settlement(gateway.log)).toMatchObject(byBytes)
    await gateway.chat(request)
    expect(gateway.log.filter(({ level }) => level === 'warn')).toMatchObject([
      { message: expect.stringContaining('tokenizer.mode') },
    ])
  })
})

describe('the end of the gateway', () => {
  test('closing waits for a count', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    gateway.upstream.next(json(completion('Hi', {})))
    await gateway.chat(request)
    const closed = gateway.gateway.close()
    await tokenizer.answer()
    await closed
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 26 })
  })

  test('closing does not wait long, and a later count changes nothing', async () => {
    const tokenizer = new HeldTokenizer()
    const gateway = await gatewayWith(tokenizer)
    gateway.upstream.next(json(completion('Hi', {})))
    await gateway.chat(request)
    const closed = gateway.gateway.close()
    await gateway.clock.advance(1_999)
    expect(settlements(gateway)).toBe(0)
    await gateway.clock.advance(1)
    await closed
    expect(settlement(gateway.log)).toMatchObject(byBytes)
    await tokenizer.answer()
    expect(settlements(gateway)).toBe(1)
  })

  test('closing waits for nothing when nothing is being counted', async () => {
    const gateway = await gatewayWith(new HeldTokenizer())
    await gateway.gateway.close()
    expect(gateway.clock.pending).toBe(0)
  })
})
