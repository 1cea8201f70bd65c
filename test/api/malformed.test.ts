import { describe, expect, test } from 'vitest'
import { chatRequest } from '../../src/core/chat.ts'
import { completion } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { oneProvider } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** Chat models with and without images, and an embedding model. */
const config = `
[server]
body_limit = 2000000
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [
  { id = "m" },
  { id = "seer", modalities = ["text", "image"] },
  { id = "half-blind", modalities = ["text", "image"], fallbacks = ["m"] },
  { id = "embedder", capabilities = ["embed"] },
]
`

interface Malformed {
  readonly name: string
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly status: number
  readonly code: string
  readonly param?: string | null
  readonly allow?: string
}

const user = { role: 'user', content: 'canary-prompt' }
const valid = { model: 'm', messages: [user] }

/** A case whose body is this text or these bytes, refused without a field name. */
const raw = (name: string, body: string | Uint8Array): Malformed => ({
  name,
  body,
  status: 400,
  code: 'LM-1001',
  param: null,
})

/** A case that is valid except for these fields. */
const field = (name: string, fields: object, param: string): Malformed => ({
  name,
  body: { ...valid, ...fields },
  status: 400,
  code: 'LM-1001',
  param,
})

/** A case that is valid except for this message. */
const message = (name: string, broken: unknown, param: string): Malformed =>
  field(name, { messages: [user, broken] }, param)

/** A case that is valid except for this part of a message. */
const part = (name: string, broken: unknown, param: string): Malformed =>
  message(
    name,
    { role: 'user', content: [{ type: 'text', text: 'x' }, broken] },
    `messages.1.content.1${param}`,
  )

const noRoute = (name: string, path: string, method = 'GET'): Malformed => ({
  name,
  path,
  method,
  status: 404,
  code: 'LM-1003',
  param: null,
})

const wrongMethod = (method: string, path: string, allow: string): Malformed => ({
  name: `${method} ${path}`,
  method,
  path,
  status: 405,
  code: 'LM-1003',
  param: null,
  allow,
})

const utf8 = (text: string) => new TextEncoder().encode(text)

/** A valid request with a field that makes the body this many levels deep; the body is level 1. */
const nested = (depth: number, [open, close] = ['[', ']']) =>
  `${JSON.stringify(valid).slice(0, -1)},"x":${open?.repeat(depth - 1)}${close?.repeat(depth - 1)}}`

const bodies: readonly Malformed[] = [
  raw('an empty body', ''),
  raw('a body of white space', ' \r\n\t'),
  raw('a body of NUL bytes', new Uint8Array(4)),
  raw('plain text', 'hello'),
  raw('a form', 'model=m&messages=x'),
  raw('an XML document', '<chat model="m"/>'),
  raw('a truncated object', '{"model":"m","messages":[{"role":"user"'),
  raw('an object with a trailing comma', '{"model":"m","messages":[{"role":"user"}],}'),
  raw('an object with a comment', '{"model":"m" /* x */,"messages":[{"role":"user"}]}'),
  raw('single quotes', "{'model':'m'}"),
  raw('NaN as a number', '{"model":"m","messages":[{"role":"user"}],"seed":NaN}'),
  raw('two objects in a row', `${JSON.stringify(valid)}${JSON.stringify(valid)}`),
  raw('an object and then something else', `${JSON.stringify(valid)}x`),
  raw('a raw line end inside a string', '{"model":"m","messages":[{"role":"us\ner"}]}'),
  raw('a bad escape', '{"mod\\xel":"m"}'),
  raw('a truncated escape in a key', '{"mod\\u00":"m"}'),
  raw('an unpaired quote', '{"model":"m'),
  raw('null', 'null'),
  raw('true', 'true'),
  raw('a number', '42'),
  raw('a string', '"model"'),
  raw('an array', '[]'),
  raw('an array that holds a valid request', JSON.stringify([valid])),
  raw('a byte order mark', utf8(`\uFEFF${JSON.stringify(valid)}`)),
  raw('UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])),
  raw('a stray continuation byte', encodeAround('{"model":"m","x":"', [0x80], '"}')),
  raw('a truncated UTF-8 sequence', encodeAround('{"model":"m","x":"', [0xe2, 0x82], '"}')),
  raw('an overlong UTF-8 sequence', encodeAround('{"model":"m","x":"', [0xc0, 0xaf], '"}')),
  raw('a surrogate in UTF-8', encodeAround('{"model":"m","x":"', [0xed, 0xa0, 0x80], '"}')),
  raw('a gzipped body', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])),
  raw('arrays nested 129 deep', nested(129)),
  raw('objects nested 129 deep', nested(129, ['{"a":', '}']).replace('}}', '0}}')),
  raw('arrays nested 100,000 deep', nested(100_000)),
  raw('arrays nested 1,900,000 deep that never end', '['.repeat(1_900_000)),
]

const fields: readonly Malformed[] = [
  { ...field('an empty object', {}, 'model'), body: {} },
  field('no model', { model: undefined }, 'model'),
  field('a null model', { model: null }, 'model'),
  field('an empty model', { model: '' }, 'model'),
  field('a numeric model', { model: 7 }, 'model'),
  field('an array as the model', { model: ['m'] }, 'model'),
  field('an object as the model', { model: { id: 'm' } }, 'model'),
  field('no messages', { messages: undefined }, 'messages'),
  field('null messages', { messages: null }, 'messages'),
  field('empty messages', { messages: [] }, 'messages'),
  field('messages as a string', { messages: 'hi' }, 'messages'),
  field('messages as an object', { messages: { 0: user } }, 'messages'),
  message('a string as a message', 'hi', 'messages.1'),
  message('a null message', null, 'messages.1'),
  message('an array as a message', [user], 'messages.1'),
  message('a message without a role', { content: 'x' }, 'messages.1.role'),
  message('a numeric role', { role: 1, content: 'x' }, 'messages.1.role'),
  message('numeric content', { role: 'user', content: 5 }, 'messages.1.content'),
  message('boolean content', { role: 'user', content: true }, 'messages.1.content'),
  message('an object as content', { role: 'user', content: { text: 'x' } }, 'messages.1.content'),
  message('a numeric name', { role: 'user', content: 'x', name: 5 }, 'messages.1.name'),
  message(
    'tool_calls as a string',
    { role: 'assistant', tool_calls: 'f' },
    'messages.1.tool_calls',
  ),
  message(
    'a string as a tool call',
    { role: 'assistant', tool_calls: ['f'] },
    'messages.1.tool_calls.0',
  ),
  message(
    'arguments of a tool call that are a list',
    { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: [] } }] },
    'messages.1.tool_calls.0.function.arguments',
  ),
  part('a string as a content part', 'x', ''),
  part('a null content part', null, ''),
  part('a numeric part type', { type: 1 }, '.type'),
  part('a numeric text', { type: 'text', text: 5 }, '.text'),
  part('a numeric image_url', { type: 'image_url', image_url: 5 }, '.image_url'),
  part('an image_url without url', { type: 'image_url', image_url: {} }, '.image_url.url'),
  part('a numeric url', { type: 'image_url', image_url: { url: 5 } }, '.image_url.url'),
  part(
    'a numeric detail',
    { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 1 } },
    '.image_url.detail',
  ),
  field('stream as a string', { stream: 'true' }, 'stream'),
  field('stream as a number', { stream: 1 }, 'stream'),
  field('stream_options as a string', { stream_options: 'usage' }, 'stream_options'),
  field('stream_options as an array', { stream_options: [] }, 'stream_options'),
  field(
    'include_usage as a string',
    { stream: true, stream_options: { include_usage: 'yes' } },
    'stream_options.include_usage',
  ),
  field('tools as an object', { tools: {} }, 'tools'),
  field('a string as a tool', { tools: ['f'] }, 'tools.0'),
  ...['max_tokens', 'max_completion_tokens', 'n'].flatMap((name) => [
    field(`${name} of zero`, { [name]: 0 }, name),
    field(`a negative ${name}`, { [name]: -1 }, name),
    field(`${name} with a fraction`, { [name]: 1.5 }, name),
    field(`${name} as a string`, { [name]: '5' }, name),
    field(`${name} as a boolean`, { [name]: true }, name),
  ]),
  {
    ...field('max_tokens beyond the range of a double', {}, 'max_tokens'),
    body: '{"model":"m","messages":[{"role":"user"}],"max_tokens":1e400}',
  },
  {
    ...field('max_tokens that a double cannot hold', {}, 'max_tokens'),
    body: '{"model":"m","messages":[{"role":"user"}],"max_tokens":9007199254740993}',
  },
  {
    ...field('a duplicate field whose last value is wrong', {}, 'stream'),
    body: '{"model":"m","messages":[{"role":"user"}],"stream":true,"stream":"x"}',
  },
]

const image = (model: string, url: string) => ({
  model,
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})
const imagePath = 'messages.0.content.0.image_url'

const models: readonly Malformed[] = [
  {
    name: 'an unknown model',
    body: { ...valid, model: 'canary-model' },
    status: 404,
    code: 'LM-2001',
    param: 'model',
  },
  {
    name: 'a model id in the wrong case',
    body: { ...valid, model: 'M' },
    status: 404,
    code: 'LM-2001',
    param: 'model',
  },
  {
    name: 'the name of an Object.prototype property as a model',
    body: { ...valid, model: 'constructor' },
    status: 404,
    code: 'LM-2001',
    param: 'model',
  },
  {
    name: 'a model without the chat capability',
    body: { ...valid, model: 'embedder' },
    status: 400,
    code: 'LM-2002',
    param: 'model',
  },
  {
    name: 'an image for a text-only model',
    body: image('m', 'data:image/png;base64,AAAA'),
    status: 400,
    code: 'LM-2003',
    param: imagePath,
  },
  {
    name: 'an image for a text-only fallback',
    body: image('half-blind', 'data:image/png;base64,AAAA'),
    status: 400,
    code: 'LM-2003',
    param: imagePath,
  },
  {
    name: 'an Anthropic file for another vendor',
    body: image('seer', 'anthropic-file:file_1'),
    status: 400,
    code: 'LM-2008',
    param: imagePath,
  },
  {
    name: 'a Google storage object for another vendor',
    body: image('seer', 'gs://bucket/object.png'),
    status: 400,
    code: 'LM-2008',
    param: imagePath,
  },
]

const routes: readonly Malformed[] = [
  noRoute('an unknown path', '/canary-path'),
  noRoute('the bare version prefix', '/v1'),
  noRoute('an unknown path under the version prefix', '/v1/canary-path'),
  noRoute('another version', '/v2/chat/completions', 'POST'),
  noRoute('a path without its version', '/chat/completions', 'POST'),
  noRoute('a doubled version', '/v1/v1/chat/completions', 'POST'),
  noRoute('a tripled version', '/v1/v1/v1/models'),
  noRoute('more path after an operation', '/v1/chat/completions/x', 'POST'),
  noRoute('a path in the wrong case', '/v1/Chat/Completions', 'POST'),
  noRoute('a percent-encoded operation', '/v1/chat%2Fcompletions', 'POST'),
  noRoute('a percent-encoded letter', '/v1/%6Dodels'),
  noRoute('a broken percent-encoding', '/v1/%zz'),
  noRoute('doubled slashes', '//v1//models'),
  noRoute('a semicolon parameter', '/v1/models;x=1'),
  noRoute('a path of NUL and line ends', '/%00%0d%0a'),
  noRoute('a path that leaves its folder', '/v1/../admin'),
  noRoute('an encoded dot segment', '/v1/%2e%2e/health/%2e%2e/admin/keys'),
  noRoute('an administration route while auth is off', '/admin/keys'),
  noRoute('a path of 8,000 characters', `/${'a'.repeat(8000)}`),
  {
    ...noRoute('an unknown model in the path', '/v1/models/canary-model'),
    code: 'LM-2001',
    param: 'model',
  },
  {
    ...noRoute('a broken encoding in a model id', '/v1/models/%E0%A4%A'),
    code: 'LM-2001',
    param: 'model',
  },
  {
    ...noRoute('invalid UTF-8 in a model id', '/v1/models/%ff%fe'),
    code: 'LM-2001',
    param: 'model',
  },
  { ...noRoute('a model id encoded twice', '/v1/models/%256D'), code: 'LM-2001', param: 'model' },
  {
    ...noRoute('an Object.prototype property as a model id', '/v1/models/__proto__'),
    code: 'LM-2001',
    param: 'model',
  },
  wrongMethod('GET', '/v1/chat/completions', 'POST'),
  wrongMethod('PUT', '/v1/chat/completions', 'POST'),
  wrongMethod('DELETE', '/v1/chat/completions', 'POST'),
  wrongMethod('OPTIONS', '/v1/chat/completions', 'POST'),
  wrongMethod('PROPFIND', '/v1/chat/completions', 'POST'),
  wrongMethod('POST', '/v1/models', 'GET, HEAD'),
  wrongMethod('DELETE', '/v1/models/m', 'GET, HEAD'),
  wrongMethod('POST', '/health', 'GET, HEAD'),
  wrongMethod('POST', '/health/providers', 'GET, HEAD'),
  wrongMethod('PUT', '/metrics', 'GET, HEAD'),
]

const table = [...bodies, ...fields, ...models, ...routes]

describe('a malformed request gets a precise error and never reaches an upstream', () => {
  test('the table holds at least 60 requests with distinct names', () => {
    expect(table.length).toBeGreaterThan(60)
    expect(new Set(table.map(({ name }) => name)).size).toBe(table.length)
  })

  test.for(table)('$name: $status $code', async (request) => {
    const { gateway, upstream } = await watchedGateway(config)
    const response = await gateway.fetch(makeRequest(request))
    expect(response.status).toBe(request.status)
    expect(response.headers.get('allow')).toBe(request.allow ?? null)
    const error = await expectErrorShape(response)
    expect(error.code).toBe(request.code)
    expect(error.type).toBe('invalid_request')
    expect(error.param).toBe(request.param ?? null)
    expect(error.message).not.toContain('canary')
    expect(upstream.requests).toEqual([])
  })

  test('the same request without its mistake is served', async () => {
    const { gateway, upstream } = await watchedGateway(config)
    upstream.always(json(completion()))
    const right = [
      JSON.stringify(valid),
      nested(128),
      nested(128, ['{"a":', '}']).replace('}}', '0}}'),
    ]
    for (const body of right) {
      const response = await gateway.fetch(makeRequest({ ...raw('', body) }))
      expect(response.status).toBe(200)
      await response.text()
    }
  })
})

describe('error messages', () => {
  test.each([
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/health', '/health'],
    ['/models', '/v1/models'],
  ])('%s: the message names the right path', async (path, meant) => {
    const { get } = await watchedGateway(config)
    const error = await expectErrorShape(await get(path))
    expect(error.message).toContain(`did you mean ${meant}?`)
  })

  test('a path without a similar route: the message names where the routes are listed', async () => {
    const { get } = await watchedGateway(config)
    const error = await expectErrorShape(await get('/v1/absent'))
    expect(error.message).toBe('no such route; GET / lists the routes')
  })

  test('the message names the invalid field', async () => {
    const { chat } = await watchedGateway(config)
    const error = await expectErrorShape(await chat({ ...valid, stream: 'true' }))
    expect(error.message).toBe('stream: must be true or false')
  })
})

describe('an invalid field is described in plain words', () => {
  const embed = '/v1/embeddings'
  const rerank = '/v1/rerank'
  const messages = [user]

  test.each([
    ['/v1/chat/completions', { messages }, 'model is required'],
    ['/v1/chat/completions', { model: 5, messages }, 'model: must be a string'],
    ['/v1/chat/completions', { model: '', messages }, 'model: must not be empty'],
    ['/v1/chat/completions', { model: 'm' }, 'messages is required'],
    ['/v1/chat/completions', { model: 'm', messages: [] }, 'messages: must not be empty'],
    ['/v1/chat/completions', { model: 'm', messages: 'Hi' }, 'messages: must be an array'],
    ['/v1/chat/completions', { model: 'm', messages: [5] }, 'messages.0: must be an object'],
    ['/v1/chat/completions', { model: 'm', messages: [{}] }, 'messages.0.role is required'],
    [
      '/v1/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: 5 }] },
      'messages.0.content: must be a string or an array',
    ],
    ['/v1/chat/completions', { model: 'm', messages, stream: 1 }, 'stream: must be true or false'],
    ['/v1/chat/completions', { model: 'm', messages, n: 1.5 }, 'n: must be a whole number'],
    ['/v1/chat/completions', { model: 'm', messages, n: 0 }, 'n: must be more than 0'],
    [embed, { model: 'm' }, 'input is required'],
    [
      embed,
      { model: 'm', input: 'x', encoding_format: 'int8' },
      'encoding_format: must be one of "float", "base64"',
    ],
    [rerank, { model: 'm', documents: ['a'] }, 'query is required'],
    [rerank, { model: 'm', query: 'q' }, 'documents is required'],
  ])('%s %j: %s', async (path, body, says) => {
    const { get } = await watchedGateway(config)
    const error = await expectErrorShape(
      await get(path, { method: 'POST', body: JSON.stringify(body) }),
    )
    expect(error).toMatchObject({ code: 'LM-1001', message: says })
  })
})

describe('fields that the gateway does not read pass untouched', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'a field named like an Object.prototype property, %s, is an ordinary field',
    async (name) => {
      const { chat, upstream } = await watchedGateway()
      upstream.always(json(completion()))
      const body = `{"${name}":{"a":1},"model":"m","messages":[{"role":"user","${name}":1}]}`
      const response = await chat(body)
      expect(response.status).toBe(200)
      expect(upstream.text()).toBe(body.replace('"m"', '"upstream-m"'))
    },
  )

  test.each([
    ['temperature as text', { temperature: 'hot' }],
    ['a string as tool_choice', { tool_choice: 7 }],
    ['null for every optional field', { stream: null, n: null, max_tokens: null, tools: null }],
    ['null content', { messages: [{ role: 'assistant', content: null, tool_calls: null }] }],
    ['empty content and calls', { messages: [{ role: 'assistant', content: '', tool_calls: [] }] }],
    ['parts of an unknown type', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }],
    ['an empty array of parts', { messages: [{ role: 'user', content: [] }] }],
    ['an unknown role', { messages: [{ role: 'wizard', content: 'x' }] }],
  ])('%s', async (_, more) => {
    const { chat, upstream } = await watchedGateway()
    upstream.always(json(completion()))
    const response = await chat({ ...valid, ...more })
    expect(response.status).toBe(200)
    expect(upstream.body()).toEqual({ ...valid, ...more, model: 'upstream-m' })
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
  ])('content-type %s is accepted', async (type) => {
    const { chat, upstream } = await watchedGateway()
    upstream.always(json(completion()))
    expect((await chat(valid, { headers: { 'content-type': type } })).status).toBe(200)
  })
})

describe('bodies built to be expensive', () => {
  const shapes = [
    ['messages', (wrong: string) => `{"model":"m","messages":[${wrong}]}`, 'messages.0'],
    [
      'parts',
      (wrong: string) => `{"model":"m","messages":[{"role":"user","content":[${wrong}]}]}`,
      'messages.0.content.0',
    ],
    [
      'tool calls',
      (wrong: string) => `{"model":"m","messages":[{"role":"user","tool_calls":[${wrong}]}]}`,
      'messages.0.tool_calls.0',
    ],
    [
      'tools',
      (wrong: string) => `{"model":"m","messages":[{"role":"user"}],"tools":[${wrong}]}`,
      'tools.0',
    ],
  ] as const

  // A million such items once took seconds and half a gigabyte, or overflowed the parser's stack.
  test.each(shapes)('a million wrong %s are refused at the first', async (_, body, param) => {
    const { chat } = await watchedGateway(config.replace('2000000', '10000000'))
    const error = await expectErrorShape(await chat(body(Array(1_000_000).fill('0').join())))
    expect(error.code).toBe('LM-1001')
    expect(error.param).toBe(param)
  })

  test.each(shapes)('of many wrong %s only the first is reported', (_, body) => {
    const { error } = chatRequest.safeParse(JSON.parse(body(Array(1000).fill('0').join())))
    expect(JSON.stringify(error?.issues).match(/must be an object/g)?.length).toBeLessThan(3)
  })
})

/** A valid request with a length of this many bytes. */
const padded = (length: number) => JSON.stringify(valid).padEnd(length, ' ')

describe('the body limit', () => {
  const limited = `[server]\nbody_limit = 1000\n${oneProvider}`

  test('a body of exactly the limit is served, and one byte more is refused', async () => {
    const { chat, upstream } = await watchedGateway(limited)
    upstream.always(json(completion()))
    expect((await chat(padded(1000))).status).toBe(200)
    const error = await expectErrorShape(await chat(padded(1001)))
    expect(error).toMatchObject({ code: 'LM-1002', type: 'invalid_request', param: null })
    expect(error.message).toBe('the request body is over the server.body_limit of 1000 bytes')
    expect(upstream.requests).toHaveLength(1)
  })

  test('the limit counts bytes, not characters', async () => {
    const { chat } = await watchedGateway(limited)
    const response = await chat({ ...valid, x: '€'.repeat(400) })
    expect(response.status).toBe(413)
  })

  test('a declared length over the limit is refused before a byte is read', async () => {
    const { gateway } = await watchedGateway(limited)
    const body = endless(100)
    const response = await gateway.fetch(streamed(body.stream, { 'content-length': '1001' }))
    expect(response.status).toBe(413)
    expect((await expectErrorShape(response)).code).toBe('LM-1002')
    expect(body.pulled).toBe(0)
  })

  test.each([
    ['no length', {}],
    ['a length that is not a number', { 'content-length': 'many' }],
    ['a negative length', { 'content-length': '-5' }],
    ['a length with a fraction', { 'content-length': '1.5' }],
    ['an empty length', { 'content-length': '' }],
  ])('an endless body with %s is read up to the limit only', async (_, headers) => {
    const { gateway, upstream } = await watchedGateway(limited)
    const body = endless(100)
    const response = await gateway.fetch(streamed(body.stream, headers))
    expect(response.status).toBe(413)
    expect((await expectErrorShape(response)).code).toBe('LM-1002')
    expect(body.pulled).toBeLessThanOrEqual(1200)
    expect(upstream.requests).toEqual([])
  })

  test('a body that arrives byte by byte is reassembled', async () => {
    const { gateway, upstream } = await watchedGateway(limited)
    upstream.always(json(completion()))
    const bytes = utf8(JSON.stringify({ ...valid, x: 'zażółć 🦆' }))
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
        controller.close()
      },
    })
    expect((await gateway.fetch(streamed(stream, {}))).status).toBe(200)
    expect(upstream.body()).toEqual({ ...valid, model: 'upstream-m', x: 'zażółć 🦆' })
  })

  test('a refusal is logged with its code and nothing of the body', async () => {
    const { chat, log } = await watchedGateway(limited)
    await chat(padded(1001))
    expect(settlement(log)).toMatchObject({ status: 413, error_code: 'LM-1002', attempts: 0 })
    expect(JSON.stringify(log)).not.toContain('canary')
  })
})

/** A body without an end, in pieces of `size` bytes; `pulled` counts the bytes that were read. */
function endless(size: number) {
  const body = {
    pulled: 0,
    stream: new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          body.pulled += size
          controller.enqueue(new Uint8Array(size).fill(0x20))
          // Without this end, an unlimited reader would block the test instead of failing it.
          if (body.pulled > 1_000_000) controller.close()
        },
      },
      { highWaterMark: 0 },
    ),
  }
  return body
}

function streamed(body: ReadableStream<Uint8Array>, headers: Record<string, string>): Request {
  // Node requires `duplex` with a streamed body; the DOM types lack it.
  const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit
  return new Request('http://gateway.test/v1/chat/completions', init)
}

function makeRequest({ method = 'POST', path = '/v1/chat/completions', body, headers }: Malformed) {
  const takesBody = body !== undefined && method !== 'GET' && method !== 'HEAD'
  return new Request(`http://gateway.test${path}`, {
    method,
    ...(headers && { headers }),
    ...(takesBody && { body: makeBody(body) }),
  })
}

function makeBody(body: unknown): BodyInit {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

function encodeAround(before: string, bytes: readonly number[], after: string): Uint8Array {
  return new Uint8Array([...utf8(before), ...bytes, ...utf8(after)])
}
