import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "p"
kind = "cohere"
base_url = "http://p.test"
[[providers.models]]
id = "m"
capabilities = ["chat", "embed", "rerank"]
`

const chatBody = '"messages":[{"role":"user","content":"Hi"}]'

const paths = {
  '/v1/chat/completions': chatBody,
  '/v1/embeddings': '"input":"Hi"',
  '/v1/rerank': '"query":"Hi","documents":["a"]',
} as const

/** A valid value of each field that decides the route or the price of a chat request. */
const fields = {
  model: '"m"',
  stream: 'false',
  n: '1',
  max_tokens: '5',
  max_completion_tokens: '5',
  max_output_tokens: '5',
} as const

async function refused(path: string, body: string): Promise<string | null> {
  const { gateway, upstream } = await watchedGateway(config)
  const request = new Request(`http://gateway.test${path}`, { method: 'POST', body })
  const response = await gateway.fetch(request)
  expect(response.status).toBe(400)
  const { code, param } = await expectErrorShape(response)
  expect(code).toBe('LM-1001')
  expect(upstream.requests).toEqual([])
  return param
}

describe.each(Object.entries(fields))('%s', (name, value) => {
  const model = name === 'model' ? '' : '"model":"m",'

  test('a repeated field is refused, even with equal values', async () => {
    const body = `{${model}"${name}":${value},${chatBody},"${name}":${value}}`
    expect(await refused('/v1/chat/completions', body)).toBe(name)
  })

  test('a field written once plainly and once with an escape is refused', async () => {
    const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    const body = `{${model}"${escaped}":${value},${chatBody},"${name}":${value}}`
    expect(await refused('/v1/chat/completions', body)).toBe(name)
  })

  test('a field in another letter case is refused, with or without the proper one', async () => {
    const beside = `{${model}"${name}":${value},${chatBody},"${name.toUpperCase()}":${value}}`
    expect(await refused('/v1/chat/completions', beside)).toBe(name)
    const alone = `{${model}"${name.toUpperCase()}":${value},${chatBody}}`
    expect(await refused('/v1/chat/completions', alone)).toBe(name)
  })
})

describe('the model of every capability', () => {
  test.each(Object.entries(paths))(
    '%s: a repeated or differently cased model is refused',
    async (path, rest) => {
      expect(await refused(path, `{"model":"m",${rest},"model":"m"}`)).toBe('model')
      expect(await refused(path, `{"model":"m",${rest},"mODEL":"x"}`)).toBe('model')
    },
  )
})

test.each([
  ['an escaped letter in another case', '\\u004dodel', 'model'],
  ['the long s, which Go folds to s', '\u017ftream', 'stream'],
  ['the Kelvin sign, which Go folds to k', 'max_to\u212aens', 'max_tokens'],
  ['the same as an escape', 'max_to\\u212Aens', 'max_tokens'],
])('%s counts as the same field', async (_, key, name) => {
  expect(await refused('/v1/chat/completions', `{"model":"m",${chatBody},"${key}":1}`)).toBe(name)
})

test.each([
  ['a nested field of the same name', '"metadata":{"model":"x","Model":"y"}'],
  [
    'names with a common beginning or end',
    '"Models":1,"mode":2,"Mode_l":3,"streams":4,"nn":5,"max_tokens_":6',
  ],
  ['other fields that are repeated', '"Seed":1,"seed":2,"seed":3,"Messages":4,"MESSAGES":5'],
  ['letters with accents and dots', '"mod\u00e9l":1,"max_completi\u0131on_tokens":2,"\u0130":3'],
  [
    'escapes that are not letters',
    '"\\nodel":1,"mode\\\\":2,"\\u":3'.replace('"\\u":3', '"\\/":3'),
  ],
])('%s is a different field', async (_, more) => {
  const { chat, upstream } = await watchedGateway()
  upstream.always(json(completion()))
  const body = `{"model":"m",${chatBody},${more}}`
  expect((await chat(body)).status).toBe(200)
  expect(upstream.text()).toBe(body.replace('"m"', '"upstream-m"'))
})
