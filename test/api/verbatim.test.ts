import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completion, usage } from '../support/answers.ts'
import { oneProvider } from '../support/gateway.ts'
import { json, whole } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const messages = '"messages":[{"role":"user","content":"Hi"}]'

describe('a request reaches an OpenAI-format upstream unchanged, except for its model', () => {
  // ⟨…⟩ marks the value that is replaced.
  test.each([
    [
      'integers beyond the precision of a double',
      `{"model":⟨"m"⟩,"seed":123456789012345678901234567890,${messages}}`,
    ],
    [
      'numbers in any notation',
      `{"a":1e400,"b":-0,"c":1E+2,"d":0.10,"e":-1.0e-7,"model":⟨"m"⟩,${messages}}`,
    ],
    ['duplicate keys', `{"x":1,"x":2,"x":{"x":3,"x":4},"model":⟨"m"⟩,${messages},"x":5}`],
    ['the order of keys', `{"z":1,${messages},"10":1,"2":2,"model":⟨"m"⟩,"a":0}`],
    ['a model that comes last', `{${messages},"model":⟨"m"⟩}`],
    ['a key with an escape', `{"mod\\u0065l":⟨"m"⟩,${messages}}`],
    ['a key of escapes only', `{"\\u006d\\u006f\\u0064\\u0065\\u006c":⟨"m"⟩,${messages}}`],
    ['a value with an escape', `{"model":⟨"\\u006d"⟩,${messages}}`],
    ['white space of every kind', `\r\n\t {\n "model"\t:\r⟨"m"⟩ , ${messages}\n}\n\n`],
    [
      'nested models',
      `{"x":{"model":"m"},"y":[{"model":"m"}],"model":⟨"m"⟩,"metadata":{"model":"m"},${messages}}`,
    ],
    ['similar keys', `{" model":"m","model ":"m","models":"m","model":⟨"m"⟩,${messages}}`],
    [
      'text that looks like a model',
      `{"x":"{\\"model\\":\\"m\\"}","y":"\\\\","model":⟨"m"⟩,"z":"\\\\\\"",${messages}}`,
    ],
    ['a value that is the key', `{"x":"model","model":⟨"m"⟩,"y":["model","m"],${messages}}`],
    ['braces and brackets in text', `{"x":"}{][,:","model":⟨"m"⟩,"y":"]}",${messages}}`],
    [
      'escapes of every kind',
      `{"x":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\ud83e\\udd86","model":⟨"m"⟩,${messages}}`,
    ],
    ['lone surrogates', `{"x":"\\ud800","\\udc00":"\\udfff\\ud800","model":⟨"m"⟩,${messages}}`],
    ['raw Unicode', `{"żółć 🦆":"\u2028\u007f\uFEFF","model":⟨"m"⟩,${messages}}`],
    [
      'empty keys, texts, objects and arrays',
      `{"":"","a":{},"b":[],"":[{}],"model":⟨"m"⟩,${messages}}`,
    ],
    [
      'arguments that are an object',
      `{"model":⟨"m"⟩,"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"n":1.0}}}]}]}`,
    ],
    ['solidus escapes', `{"a\\/b":"\\/","model":⟨"m"⟩,${messages}}`],
  ])('%s', async (_, pattern) => {
    const { chat, upstream } = await watchedGateway()
    upstream.next(json(completion()))
    const response = await chat(pattern.replaceAll(/[⟨⟩]/g, ''))
    expect(response.status).toBe(200)
    expect(upstream.text()).toBe(pattern.replaceAll(/⟨[^⟩]*⟩/g, '"upstream-m"'))
  })

  test('an upstream model id is escaped where JSON needs it', async () => {
    const { chat, upstream } = await watchedGateway(
      oneProvider.replace('"upstream-m"', String.raw`'org/"m"\ż'`),
    )
    upstream.next(json(completion()))
    await chat(`{"model":"m",${messages}}`)
    expect(upstream.text()).toBe(String.raw`{"model":"org/\"m\"\\ż",${messages}}`)
  })

  test('a model without an upstream_id is sent by its own id', async () => {
    const { chat, upstream } = await watchedGateway(
      oneProvider.replace('upstream_id = "upstream-m"', ''),
    )
    upstream.next(json(completion()))
    const body = `{ "model":"m",${messages}}`
    await chat(body)
    expect(upstream.text()).toBe(body)
  })

  test('each link of a chain gets the original bytes with its own model', async () => {
    const { chat, upstream } = await watchedGateway(`
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [
        { id = "m", upstream_id = "a-much-longer-name", fallbacks = ["n"] },
        { id = "n", upstream_id = "b" },
      ]
    `)
    upstream.next(json({}, { status: 401 }), json(completion()))
    await chat(`{"seed":1e400,"model":"m",${messages}}`)
    expect(upstream.text(0)).toBe(`{"seed":1e400,"model":"a-much-longer-name",${messages}}`)
    expect(upstream.text(1)).toBe(`{"seed":1e400,"model":"b",${messages}}`)
  })

  test('in any JSON object only the model changes, and the result parses', async () => {
    const { chat, upstream, log } = await watchedGateway()
    upstream.always(json(completion()))
    await fc.assert(
      fc.asyncProperty(arbitraryRequest, async ({ given, sent }) => {
        const response = await chat(given)
        expect(response.status).toBe(200)
        expect(upstream.text()).toBe(sent)
        expect(upstream.body()).toHaveProperty('model', 'upstream-m')
        upstream.requests.length = 0
        log.length = 0
      }),
      { numRuns: 1000 },
    )
  })
})

describe('an answer reaches the client unchanged', () => {
  const answer = (more = '') =>
    `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]${more}}`
  const reported = ',"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}'

  test.each([
    [
      'numbers in any notation',
      answer(`${reported},"a":1e400,"b":123456789012345678901234567890,"c":-0`),
    ],
    ['duplicate keys', answer(`,"x":1,"x":2${reported}`)],
    ['blank lines before it', `\n\n  \r\n${answer(reported)}`],
    ['white space after it', `${answer(reported)}\n\n\t`],
    ['usage that is nested elsewhere', answer(`${reported},"x":{"usage":null}`)],
    ['keys of Object.prototype', answer(`${reported},"constructor":1,"__proto__":{"usage":1}`)],
    ['raw Unicode and escapes', answer(`${reported},"ż\\u017c🦆":"\\ud800"`)],
    [
      'usage without output for an empty answer',
      answer(',"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}').replace(
        'Hello',
        '',
      ),
    ],
    [
      'usage with further fields of other vendors',
      answer(
        ',"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":4,"cost":0.1}',
      ),
    ],
    [
      'a choice without text',
      `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]${reported}}`,
    ],
  ])('%s', async (_, text) => {
    const { chat, upstream } = await watchedGateway()
    upstream.next(
      whole(text, {
        headers: { 'content-type': 'application/json; charset=utf-8', 'x-secret': 'a' },
      }),
    )
    const response = await chat(`{"model":"m",${messages}}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe(
      String(new TextEncoder().encode(text).length),
    )
    expect(response.headers.get('x-secret')).toBeNull()
    expect(await response.text()).toBe(text)
  })

  const estimate = '{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10,"estimated":true}'

  test.each([
    ['absent', answer(), answer(`,"usage":${estimate}`)],
    [
      'absent, with a nested one',
      answer(',"x":{"usage":1}'),
      answer(`,"x":{"usage":1},"usage":${estimate}`),
    ],
    [
      'absent, with white space around the end',
      ` ${answer().slice(0, -1)} } \n`,
      ` ${answer().slice(0, -1)} ,"usage":${estimate}} \n`,
    ],
    ['null', answer(',"usage" : null ,"x":1e400'), answer(`,"usage" : ${estimate} ,"x":1e400`)],
    ['an empty object', answer(',"usage":{}'), answer(`,"usage":${estimate}`)],
    ['a text', answer(',"usage":"9"'), answer(`,"usage":${estimate}`)],
    [
      'negative',
      answer(',"usage":{"prompt_tokens":-1,"completion_tokens":2}'),
      answer(`,"usage":${estimate}`),
    ],
    ['a fraction', answer(',"usage":{"prompt_tokens":1.5}'), answer(`,"usage":${estimate}`)],
    [
      'beyond the range of a double',
      answer(',"usage":{"prompt_tokens":1e400}'),
      answer(`,"usage":${estimate}`),
    ],
    [
      'over 2^53',
      answer(',"usage":{"prompt_tokens":9007199254740992}'),
      answer(`,"usage":${estimate}`),
    ],
    [
      'over 2^53 in total',
      answer(',"usage":{"prompt_tokens":9007199254740991,"completion_tokens":9007199254740991}'),
      answer(`,"usage":${estimate}`),
    ],
    [
      'zeros although there is text',
      answer(',"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}'),
      answer(`,"usage":${estimate}`),
    ],
    [
      'present twice, both unusable',
      answer(',"usage":null,"usage":{}'),
      answer(`,"usage":${estimate},"usage":${estimate}`),
    ],
    ['written with an escape', answer(',"us\\u0061ge":null'), answer(`,"us\\u0061ge":${estimate}`)],
  ])('an estimate is spliced in where its usage is %s', async (_, text, shown) => {
    const { chat, upstream, log } = await watchedGateway()
    upstream.next(whole(text))
    const response = await chat(`{"model":"m",${messages}}`)
    expect(await response.text()).toBe(shown)
    expect(response.headers.get('content-length')).toBe(String(shown.length))
    expect(settlement(log)).toMatchObject({ tokens_in: 8, tokens_out: 2, estimated: true })
  })

  test.each([
    [
      'text of two choices',
      [{ message: { content: 'abcd' } }, { message: { content: 'abcd' } }],
      2,
    ],
    [
      'reasoning, once',
      [{ message: { content: 'abcd', reasoning: 'abcd', reasoning_content: 'abcd' } }],
      2,
    ],
    ['a refusal', [{ message: { content: null, refusal: 'abcd' } }], 1],
    [
      'calls',
      [{ message: { tool_calls: [{ function: { name: 'abcd', arguments: '{"a":1}' } }] } }],
      3,
    ],
    ['parts', [{ message: { content: [{ type: 'text', text: 'abcd' }] } }], 1],
    ['bytes, not characters', [{ message: { content: '€€€€' } }], 3],
    [
      'nothing',
      [{ message: { content: null }, finish_reason: 'stop' }, null, {}, { message: null }],
      0,
    ],
  ])('an estimate of the output counts %s', async (_, choices, tokens) => {
    const { chat, upstream, log } = await watchedGateway()
    upstream.next(json({ choices }))
    await chat(`{"model":"m",${messages}}`)
    expect(settlement(log)).toMatchObject({ tokens_out: tokens, estimated: true })
  })

  test.each([
    ['a total without output', { prompt_tokens: 9, total_tokens: 11 }, [9, 2]],
    [
      'a total with reasoning on top',
      { prompt_tokens: 12, completion_tokens: 1, total_tokens: 303 },
      [12, 291],
    ],
    [
      'reasoning that is not in the output',
      {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 7,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      [5, 32],
    ],
    [
      'hostile details',
      { ...usage, prompt_tokens_details: 'x', completion_tokens_details: { reasoning_tokens: -1 } },
      [9, 2],
    ],
  ])('reported usage is read correctly: %s', async (_, reportedUsage, [input, output]) => {
    const { chat, upstream, log } = await watchedGateway()
    upstream.next(json(completion('Hi', { usage: reportedUsage })))
    await chat(`{"model":"m",${messages}}`)
    expect(settlement(log)).toMatchObject({
      tokens_in: input,
      tokens_out: output,
      estimated: false,
    })
  })
})

/** White space, keys and values in unusual spellings. */
const space = fc.constantFrom('', '', ' ', '\n', '\t', '\r\n  ')
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('model', '\\', '"', '{', '}', ','),
  )
  .map((value) => JSON.stringify(value))
const number = fc.constantFrom(
  '0',
  '-0',
  '1e400',
  '-1.50',
  '123456789012345678901234567890',
  '1E-9',
)
const value = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.constantFrom('null', 'true', 'false'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
    fc
      .array(fc.tuple(text, tie('value')), { maxLength: 3 })
      .map((members) => `{ ${members.map(([key, inner]) => `${key}: ${inner}`).join(',')}}`),
  ),
})).value

/** Fields that the gateway reads and validates. */
const read = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'tools',
])
const member = fc
  .tuple(text, value)
  .filter(([key]) => !read.has(String(JSON.parse(key)).toLowerCase()))
  .map(([key, given]) => ({ key, given, sent: given }))

const modelMember = fc.constantFrom('"model"', '"mod\\u0065l"', '"\\u006dodel"').map((key) => ({
  key,
  given: '"m"',
  sent: '"upstream-m"',
}))
const messagesMember = { key: '"messages"', given: '[{"role":"user"}]', sent: '[{"role":"user"}]' }

/** A valid request in any spelling, and the bytes that the upstream must receive. */
const arbitraryRequest = fc
  .tuple(
    fc.array(member, { maxLength: 6 }),
    modelMember,
    fc.array(space, { minLength: 50, maxLength: 50 }),
    fc.nat(),
  )
  .map(([others, model, spaces, seed]) => {
    const members = [...others, model, messagesMember]
    const rotated = members.map((_, at) => members[(at * 7 + seed) % members.length])
    const order = new Set(rotated).size === members.length ? rotated : members
    const write = (side: 'given' | 'sent') => {
      let next = 0
      const gap = () => spaces[next++ % spaces.length] ?? ''
      const written = order.map(
        (one) => `${gap()}${one?.key}${gap()}:${gap()}${one?.[side]}${gap()}`,
      )
      return `${gap()}{${written.join(',')}}${gap()}`
    }
    return { given: write('given'), sent: write('sent') }
  })
