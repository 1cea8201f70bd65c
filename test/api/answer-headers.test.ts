import { expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { testGateway } from '../support/gateway.ts'
import { keyedGateway, pricedProvider } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

const messages = [{ role: 'user', content: 'Hi' }]

const cohere = `
[[providers]]
name = "c"
kind = "cohere"
api_key_env = "P_KEY"
[[providers.models]]
id = "command"
`

const cohereAnswer = {
  id: 'a',
  message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
  finish_reason: 'COMPLETE',
  usage: { tokens: { input_tokens: 9, output_tokens: 2 } },
}

test('a whole answer of a priced model says what it costs, with auth off too', async () => {
  const { chat, upstream } = await testGateway(pricedProvider)
  upstream.always(json(completion()))
  const { headers } = await chat({ model: 'm', messages })
  expect(headers.get('x-gateway-cost')).toBe('0.000013')
})

test('the cost in the header is the cost that is charged', async () => {
  const { ask, key, rows, upstream } = await keyedGateway(pricedProvider)
  upstream.always(json(completion()))
  const { headers } = await ask(await key(), { model: 'm', messages })
  const [row] = await rows()
  expect(headers.get('x-gateway-cost')).toBe('0.000013')
  expect(row?.cost).toBe(13_000n)
})

test('streams, errors and models without prices have no cost in their headers', async () => {
  const priced = await testGateway(pricedProvider)
  priced.upstream.next(stream([wholeStream]), json({ error: { message: 'no' } }, { status: 400 }))
  const streamed = await priced.chat({ model: 'm', messages, stream: true })
  await streamed.text()
  expect(streamed.headers.has('x-gateway-cost')).toBe(false)
  const refused = await priced.chat({ model: 'm', messages })
  expect(refused.headers.has('x-gateway-cost')).toBe(false)
  const free = await testGateway()
  free.upstream.always(json(completion()))
  expect((await free.chat({ model: 'm', messages })).headers.has('x-gateway-cost')).toBe(false)
})

test('an answer names the fields that its link left out', async () => {
  const { chat, upstream } = await testGateway(cohere)
  upstream.always(json(cohereAnswer))
  const sent = { model: 'command', messages, logit_bias: { 1: 2 }, service_tier: 'flex' }
  const { headers } = await chat(sent)
  expect(headers.get('x-gateway-dropped')?.split(',').sort()).toEqual([
    'logit_bias',
    'service_tier',
  ])
  const plain = await chat({ model: 'command', messages })
  expect(plain.headers.has('x-gateway-dropped')).toBe(false)
})

test('the list of left out fields stays under its limit and holds whole paths', async () => {
  const { chat, upstream } = await testGateway(cohere)
  upstream.always(json(cohereAnswer))
  const tools = Array.from({ length: 200 }, () => ({ type: 'web_search' }))
  const { headers } = await chat({ model: 'command', messages, tools })
  const dropped = headers.get('x-gateway-dropped') ?? ''
  expect(dropped.length).toBeGreaterThan(900)
  expect(dropped.length).toBeLessThanOrEqual(1024)
  expect(dropped.split(',').every((path) => /^tools\.\d+$/.test(path))).toBe(true)
})

test('a fallback that carries every field names none', async () => {
  const { chat, upstream } = await testGateway(`${cohere}fallbacks = ["m"]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
`)
  upstream.next(json({ message: 'no' }, { status: 401 }), json(completion()))
  const { headers } = await chat({ model: 'command', messages, logit_bias: { 1: 2 } })
  expect(headers.get('x-gateway-model-used')).toBe('m')
  expect(headers.has('x-gateway-dropped')).toBe(false)
})
