import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/providers/index.ts'
import {
  chunk,
  completion,
  done,
  hello,
  makeChunk,
  role,
  stop,
  usage,
  usageChunk,
  wholeStream,
} from '../support/answers.ts'
import { oneProvider } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { includeUsage, readStream, settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const withoutUsage = role + hello + stop

/** By the heuristic, the prompt "Hi" is 8 tokens and the answer "Hello" is 2. */
const estimate = { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10, estimated: true }
const estimateAsked = makeChunk({ choices: [], usage: estimate })
const estimateUnasked = makeChunk({
  choices: [{ index: 0, delta: {}, finish_reason: null }],
  usage: estimate,
})

describe('a stream without usage gets an estimate before the terminator', () => {
  test.each([
    ['did not request usage', {}, estimateUnasked],
    ['requested a usage chunk', includeUsage, estimateAsked],
    ['sent include_usage false', { stream_options: { include_usage: false } }, estimateUnasked],
    ['sent include_usage null', { stream_options: { include_usage: null } }, estimateUnasked],
    ['sent null as its stream_options', { stream_options: null }, estimateUnasked],
  ])('the estimate has the form for a client that %s', async (_, more, expected) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([withoutUsage + done]))
    expect(await readStream(gateway, more)).toBe(withoutUsage + expected + done)
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 8, tokens_out: 2, estimated: true })
  })

  test('the estimate has the stream’s last non-empty identity', async () => {
    const filter =
      'data: {"choices":[],"created":0,"id":"","model":"","prompt_filter_results":[]}\n\n'
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([filter + withoutUsage + filter + done]))
    expect(await readStream(gateway)).toBe(filter + withoutUsage + filter + estimateUnasked + done)
  })

  test('id, creation time and model of the estimate are the last ones of the stream, each by itself', async () => {
    const finish = 'data: {"id":"b","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    const renamed = 'data: {"model":"other","choices":[]}\n\n'
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([role + hello + finish + renamed + done]))
    const shown = await readStream(gateway)
    const added = shown.slice((role + hello + finish + renamed).length, -done.length)
    expect(JSON.parse(added.slice('data: '.length))).toMatchObject({
      id: 'b',
      created: 1_764_000_000,
      model: 'other',
    })
  })

  test('the estimate has an identity of the gateway when the stream had none', async () => {
    const nameless =
      'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([nameless + done]))
    const shown = await readStream(gateway)
    const added = JSON.parse(shown.slice(nameless.length + 'data: '.length, -done.length))
    expect(added).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion.chunk',
      created: 1_764_000_000,
      model: 'm',
      choices: [{ index: 0, delta: {}, finish_reason: null }],
      usage: estimate,
    })
  })

  test.each([
    ['null', null],
    ['an empty object', {}],
    ['an array', [1, 2, 3]],
    ['a string', '9'],
    ['negative counts', { prompt_tokens: -9, completion_tokens: 2, total_tokens: -7 }],
    ['fractions', { prompt_tokens: 9.5, completion_tokens: 2, total_tokens: 11.5 }],
    ['counts as strings', { prompt_tokens: '9', completion_tokens: '2', total_tokens: '11' }],
    ['counts as booleans', { prompt_tokens: true, completion_tokens: false, total_tokens: true }],
    ['a count over 2^53', { prompt_tokens: 2 ** 53, completion_tokens: 2, total_tokens: 2 ** 53 }],
    ['one hostile count of three', { prompt_tokens: 9, completion_tokens: 2, total_tokens: -1 }],
    ['an output over the total', { completion_tokens: 20, total_tokens: 11 }],
    [
      'counts whose sum is over 2^53',
      { prompt_tokens: 2 ** 53 - 1, completion_tokens: 2 ** 53 - 1 },
    ],
    ['zeros although there was text', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ])('usage that is %s is ignored', async (_, hostile) => {
    const gateway = await watchedGateway()
    const finish = chunk({}, { usage: hostile }, 'stop')
    gateway.upstream.next(stream([role + hello + finish + done]))
    expect(await readStream(gateway)).toBe(role + hello + finish + estimateUnasked + done)
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 8, tokens_out: 2, estimated: true })
  })

  test('a number beyond the range of a double is not a count', async () => {
    const gateway = await watchedGateway()
    const finish = chunk({}, { usage: 0 }, 'stop').replace(
      '"usage":0',
      '"usage":{"prompt_tokens":1e400,"completion_tokens":2,"total_tokens":1e400}',
    )
    gateway.upstream.next(stream([role + hello + finish + done]))
    expect(await readStream(gateway)).toBe(role + hello + finish + estimateUnasked + done)
  })
})

describe('a stream that reports usage gets no estimate', () => {
  const reports: readonly (readonly [string, string, Record<string, number>])[] = [
    ['in a chunk of its own', wholeStream, { tokens_in: 9, tokens_out: 2 }],
    [
      'on its finish chunk',
      role + hello + chunk({}, { usage }, 'stop') + done,
      { tokens_in: 9, tokens_out: 2 },
    ],
    [
      'as running totals, the last of which counts',
      chunk(
        { content: 'a' },
        { usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } },
      ) +
        chunk({}, { usage }, 'stop') +
        done,
      { tokens_in: 9, tokens_out: 2 },
    ],
    [
      'and then null',
      role + hello + chunk({}, { usage }, 'stop') + makeChunk({ choices: [], usage: null }) + done,
      { tokens_in: 9, tokens_out: 2 },
    ],
    [
      'and then something hostile',
      role +
        hello +
        chunk({}, { usage }, 'stop') +
        makeChunk({ choices: [], usage: { prompt_tokens: -1 } }) +
        done,
      { tokens_in: 9, tokens_out: 2 },
    ],
    [
      'as a total and a prompt',
      role + hello + chunk({}, { usage: { prompt_tokens: 9, total_tokens: 14 } }, 'stop') + done,
      { tokens_in: 9, tokens_out: 5 },
    ],
    [
      'of zero output, because there was none',
      role +
        chunk({}, { usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 } }, 'stop') +
        done,
      { tokens_in: 9, tokens_out: 0 },
    ],
    [
      'of a prompt alone, because there was no output',
      role + chunk({}, { usage: { prompt_tokens: 9, total_tokens: 9 } }, 'stop') + done,
      { tokens_in: 9, tokens_out: 0 },
    ],
    [
      'under x_groq beside a top-level one, which wins',
      role +
        hello +
        chunk(
          {},
          { usage, x_groq: { usage: { prompt_tokens: 1, completion_tokens: 1 } } },
          'stop',
        ) +
        done,
      { tokens_in: 9, tokens_out: 2 },
    ],
  ]

  test.each(reports)('%s', async (_, sent, tokens) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([sent]))
    expect(await readStream(gateway)).toBe(sent)
    expect(settlement(gateway.log)).toMatchObject({ ...tokens, estimated: false })
  })
})

/** A request with these stream options and unusual white space. */
const body = (model: string, options: string) =>
  `{ "stream":true, "model" : "${model}", "seed":1e400,"messages":[{"role":"user","content":"Hi"}]${options} } `

describe('stream_usage = true', () => {
  const config = oneProvider.replace('kind = "openai"', 'kind = "openai"\nstream_usage = true')

  test.each([
    ['absent', '', ',"stream_options":{"include_usage":true}'],
    ['null', ',"stream_options":null', ',"stream_options":{"include_usage":true}'],
    ['empty', ',"stream_options": {}', ',"stream_options": {"include_usage":true}'],
    [
      'false',
      ',"stream_options":{"include_usage":false}',
      ',"stream_options":{"include_usage":true}',
    ],
    [
      'present for another option',
      ',"stream_options":{"include_obfuscation":false}',
      ',"stream_options":{"include_obfuscation":false,"include_usage":true}',
    ],
    [
      'present twice',
      ',"stream_options":{"x":1},"stream_options":{"include_obfuscation":true}',
      ',"stream_options":{"include_obfuscation":true,"include_usage":true},"stream_options":{"include_obfuscation":true,"include_usage":true}',
    ],
  ])(
    'stream_options that are %s get include_usage, and nothing else changes',
    async (_, given, sent) => {
      const { chat, upstream } = await watchedGateway(config)
      upstream.next(stream([wholeStream]))
      await (await chat(body('m', given))).text()
      // An absent member is added right before the closing brace.
      expect(upstream.text()).toBe(
        given === '' ? body('upstream-m', '').replace('} ', `${sent}} `) : body('upstream-m', sent),
      )
    },
  )

  test('a request that already asks for usage is sent unchanged', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([wholeStream]))
    expect(await readStream(gateway, { stream_options: { include_usage: true, x: 1 } })).toBe(
      wholeStream,
    )
    expect(gateway.upstream.body()).toMatchObject({ stream_options: { include_usage: true, x: 1 } })
  })

  test('a request without streaming is sent unchanged', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion()))
    await chat({ model: 'm', messages: [{ role: 'user' }] })
    expect(upstream.body()).toEqual({ model: 'upstream-m', messages: [{ role: 'user' }] })
  })

  test.each([
    ['did not request usage', {}],
    ['sent include_usage false', { stream_options: { include_usage: false } }],
  ])('the extra usage chunk is counted, and hidden from a client that %s', async (_, more) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([wholeStream]))
    expect(await readStream(gateway, more)).toBe(role + hello + stop + done)
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 9, tokens_out: 2, estimated: false })
  })

  test('usage beside a choice belongs to the stream and stays', async () => {
    const gateway = await watchedGateway(config)
    const sent = role + hello + chunk({}, { usage }, 'stop') + done
    gateway.upstream.next(stream([sent]))
    expect(await readStream(gateway)).toBe(sent)
  })

  test('an upstream without the option: the client gets the usual estimate', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([withoutUsage + done]))
    expect(await readStream(gateway)).toBe(withoutUsage + estimateUnasked + done)
  })

  test('an extra chunk with invalid usage is hidden too, and an estimate replaces it', async () => {
    const gateway = await watchedGateway(config)
    const hostile = makeChunk({ choices: [], usage: { prompt_tokens: -1, total_tokens: 1 } })
    gateway.upstream.next(stream([withoutUsage + hostile + done]))
    expect(await readStream(gateway)).toBe(withoutUsage + estimateUnasked + done)
  })

  test('a chunk without choices and without usage is shown', async () => {
    const gateway = await watchedGateway(config)
    const filter = makeChunk({ choices: [], prompt_filter_results: [] })
    gateway.upstream.next(stream([filter + wholeStream]))
    expect(await readStream(gateway)).toBe(filter + role + hello + stop + done)
  })

  test.each([
    'openai',
    'azure',
    'vllm',
    'together',
    'openrouter',
    'xai',
    'deepinfra',
    'huggingface',
    'cloudflare',
    'sambanova',
    'nvidia',
    'ollama',
  ])('kind %s gets a request for usage', async (kind) =>
    expect(await sentBy(kind)).toEqual({ include_usage: true }),
  )

  // Mistral answers 422 to the option; the others report usage unasked.
  test.each(['mistral', 'perplexity', 'groq', 'deepseek', 'cerebras', 'fireworks'])(
    'kind %s gets no request for usage, with any setting',
    async (kind) => expect(await sentBy(kind)).toBeUndefined(),
  )

  async function sentBy(kind: string): Promise<unknown> {
    const gateway = await watchedGateway(
      config.replace('kind = "openai"', `kind = "${kind}"\nbase_url = "https://own.test/v1"`),
    )
    gateway.upstream.next(stream([role + hello + chunk({}, { usage }, 'stop') + done]))
    await readStream(gateway)
    return (gateway.upstream.body() as { stream_options?: unknown }).stream_options
  }
})

describe('stream_usage = "auto", the default', () => {
  /** Streams to a client with a key; returns the text and the stream options sent upstream. */
  async function streamWithKey(
    sent: string,
    { more = {}, kind = 'openai', auth = true, setting = '' }: Streaming = {},
  ) {
    const file = `
      [[providers]]
      name = "p"
      kind = "${kind}"
      base_url = "https://own.test/v1"
      api_key_env = "P_KEY"
      ${setting}
      models = [{ id = "m", upstream_id = "upstream-m" }]
    `
    const keyed = auth ? await keyedGateway(file) : undefined
    const gateway = keyed ?? (await watchedGateway(file))
    const headers = keyed ? (await keyed.key()).headers : {}
    gateway.upstream.next(stream([sent]))
    const response = await gateway.chat(streamed(more), { headers })
    const text = await response.text()
    const options = (gateway.upstream.body() as { stream_options?: unknown }).stream_options
    return { text, options, log: gateway.log }
  }

  const extra = { ...usage, prompt_tokens_details: { audio_tokens: 3 }, cost: 0.5 }
  const extraChunk = (choices: readonly object[]) => makeChunk({ choices, usage: extra, note: 1 })
  const empty = [{ index: 0, delta: {}, finish_reason: null }]

  test.each([
    ['did not request usage', {}],
    ['sent include_usage false', { stream_options: { include_usage: false } }],
  ])(
    'with auth the gateway requests usage, and a client that %s gets the chunk with one empty choice',
    async (_, more) => {
      const sent = withoutUsage + extraChunk([]) + done
      const { text, options, log } = await streamWithKey(sent, { more })
      expect(options).toEqual({ include_usage: true })
      expect(text).toBe(withoutUsage + extraChunk(empty) + done)
      expect(settlement(log)).toMatchObject({ tokens_in: 9, tokens_out: 2, estimated: false })
    },
  )

  test('a client that asks for usage gets the chunk unchanged', async () => {
    const sent = withoutUsage + extraChunk([]) + done
    const { text } = await streamWithKey(sent, { more: includeUsage })
    expect(text).toBe(sent)
  })

  test('a chunk without usage stays unchanged, even with empty choices', async () => {
    const filter = makeChunk({ choices: [], prompt_filter_results: [] })
    const sent = filter + withoutUsage + extraChunk([]) + done
    const { text } = await streamWithKey(sent)
    expect(text).toBe(filter + withoutUsage + extraChunk(empty) + done)
  })

  test('an upstream without the option: the client gets the estimate', async () => {
    const { text } = await streamWithKey(withoutUsage + done)
    expect(text).toBe(withoutUsage + estimateUnasked + done)
  })

  test('usage that cannot be true is followed by the estimate', async () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    const zeroChunk = (choices: readonly object[]) => makeChunk({ choices, usage: zeros })
    const { text } = await streamWithKey(withoutUsage + zeroChunk([]) + done)
    expect(text).toBe(withoutUsage + zeroChunk(empty) + estimateUnasked + done)
  })

  test('without auth the gateway does not request usage', async () => {
    const { text, options } = await streamWithKey(withoutUsage + done, { auth: false })
    expect(options).toBeUndefined()
    expect(text).toBe(withoutUsage + estimateUnasked + done)
  })

  test('false turns it off', async () => {
    const { options } = await streamWithKey(withoutUsage + done, {
      setting: 'stream_usage = false',
    })
    expect(options).toBeUndefined()
  })

  test('true hides the chunk from a client that did not request it', async () => {
    const sent = withoutUsage + extraChunk([]) + done
    const { text, options } = await streamWithKey(sent, { setting: 'stream_usage = true' })
    expect(options).toEqual({ include_usage: true })
    expect(text).toBe(withoutUsage + done)
  })

  const page = readFileSync(
    new URL('../../docs/providers/openai-compatible.md', import.meta.url),
    'utf8',
  )
  const documented = [...page.matchAll(/^\| `(\w+)` \|(?: [^|]+ \|){2} (yes|no)\b.* \|$/gm)]

  test('the manual lists for every kind whether the gateway requests usage', () => {
    const compatible = kinds.filter(({ ownSettings }) => ownSettings?.includes('stream_usage'))
    expect(documented.map(([, kind]) => kind).sort()).toEqual(
      compatible.map(({ name }) => name).sort(),
    )
  })

  test.each(documented.map(([, kind, answer]) => [kind, answer] as const))(
    'the gateway requests usage of kind %s: %s',
    async (kind, answer) => {
      const { options } = await streamWithKey(withoutUsage + done, { kind })
      expect(options).toEqual(answer === 'yes' ? { include_usage: true } : undefined)
    },
  )
})

interface Streaming {
  readonly more?: object
  readonly kind?: string | undefined
  readonly auth?: boolean
  /** A further setting of the provider. */
  readonly setting?: string
}

test('without auth a streamed request is sent unchanged', async () => {
  const gateway = await watchedGateway()
  gateway.upstream.next(stream([wholeStream]))
  await readStream(gateway, { stream_options: { include_usage: false } })
  expect(gateway.upstream.body()).toMatchObject({ stream_options: { include_usage: false } })
})

test('a usage chunk that was not requested is shown, because the upstream sent it', async () => {
  const gateway = await watchedGateway()
  gateway.upstream.next(stream([withoutUsage + usageChunk + done]))
  expect(await readStream(gateway)).toBe(withoutUsage + usageChunk + done)
})
