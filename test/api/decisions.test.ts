import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import {
  answers,
  asked,
  decide,
  decisionConfig,
  type Form,
  forms,
  paths,
  requests,
  strictUpstream,
} from '../support/decisions.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { series } from '../support/exposition.ts'
import { providerKey, type TestGateway } from '../support/gateway.ts'
import { jsonStyles, writeJson } from '../support/json-styles.ts'
import { json, type Responder, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** A kind of each form, with its address for decisions. */
const kinds = { openai: 'openai', typesafe: 'typesafe' } as const

const open = (form: Form, model = {}) =>
  watchedGateway(decisionConfig({ kind: kinds[form], model }))

/** Writes a body with its model first, last or in between, and returns it with the model that is expected upstream. */
function writeBody(fields: object, model: string): string {
  return JSON.stringify({ ...fields, model })
}

describe.each(forms)('a request in the form of %s', (form) => {
  test.each([...new Set(['/v1/decisions', paths[form]])])(
    'passes through %s, and its answer comes back byte for byte',
    async (path) => {
      const gateway = await open(form)
      gateway.upstream.next(whole(answers[form]))
      const response = await decide(gateway, asked[form], { path })
      expect(response.status).toBe(200)
      expectCommonHeaders(response)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('x-gateway-model-used')).toBe('m')
      expect(response.headers.get('x-gateway-provider')).toBe('p')
      expect(response.headers.get('x-gateway-attempts')).toBe('1')
      expect(await response.text()).toBe(answers[form])
      expect(gateway.upstream.text()).toBe(writeBody(asked[form], 'upstream-m'))
    },
  )

  test('is sent as it was written, whatever is in it and however it is written', async () => {
    const gateway = await open(form)
    gateway.upstream.always(strictUpstream(form, providerKey))
    const cases = fc.tuple(requests[form], jsonStyles, fc.boolean())
    const property = fc.asyncProperty(cases, async ([fields, style, isModelFirst]) => {
      const write = (model: string) =>
        writeJson(isModelFirst ? { model, ...fields } : { ...fields, model }, style)
      const response = await decide(gateway, write('m'))
      const text = await response.text()
      expect(response.status, text).toBe(200)
      // The upstream indents its answers, which a parser would not keep.
      expect(text).toMatch(/^\{\n "model": /)
      expect(gateway.upstream.text()).toBe(write('upstream-m'))
    })
    await fc.assert(property, { numRuns: 60 })
  })

  test('keeps members that the gateway does not know, and numbers of any size', async () => {
    const gateway = await open(form)
    gateway.upstream.next(whole(answers[form]))
    const body = writeBody({ new_member: { a: 1 }, ...asked[form] }, 'm')
    const exact = body.replace('{"a":1}', '{"a":123456789012345678901234567890,"b":1e400}')
    expect((await decide(gateway, exact)).status).toBe(200)
    expect(gateway.upstream.text()).toBe(exact.replace('"m"', '"upstream-m"'))
  })

  test('is logged and counted by its own API', async () => {
    const gateway = await open(form)
    gateway.upstream.next(whole(answers[form]))
    await decide(gateway, asked[form])
    expect(gateway.log.find(({ message }) => message === 'request')?.fields).toMatchObject({
      capability: 'decisions',
      api: 'decisions',
      model_used: 'm',
      status: 200,
      stream: false,
      tokens_in: form === 'openai' ? 212 : 140,
      tokens_out: form === 'openai' ? 3 : 8,
      estimated: false,
    })
    const metrics = await (await gateway.get('/metrics')).text()
    const labels = { capability: 'decisions', model: 'm', provider: 'p' }
    expect(series(metrics, 'gateway_tokens_total')).toContainEqual({
      labels: { ...labels, direction: 'input', estimated: 'false' },
      value: form === 'openai' ? 212 : 140,
    })
    expect(series(metrics, 'gateway_request_duration_seconds_count')).toContainEqual({
      labels: { ...labels, api: 'decisions', status: '200' },
      value: 1,
    })
  })

  test('a refusal to a question is an answer, and is counted', async () => {
    const gateway = await open(form)
    const refusal = { type: 'refusal', name: 'duplicate' }
    const other = { type: 'x' }
    const list =
      form === 'openai' ? [refusal, other, refusal] : { a: refusal, b: other, c: refusal }
    gateway.upstream.next(json({ answers: list }))
    const response = await decide(gateway, asked[form])
    expect(await response.json()).toEqual({ answers: list })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(series(metrics, 'gateway_decision_refusals_total')).toEqual([
      { labels: { model: 'm', provider: 'p' }, value: 2 },
    ])
  })

  test.each<[string, unknown]>([
    ['no usage', undefined],
    ['a usage that is null', null],
    ['counts that are not counts', { input_tokens: -1, output_tokens: 'x' }],
    ['no count of the prompt', { output_tokens: 0 }],
  ])('%s: the prompt is estimated, and the answer stays as it is', async (_, usage) => {
    const gateway = await open(form)
    const answer = JSON.stringify({ ...JSON.parse(answers[form]), usage })
    gateway.upstream.next(whole(answer))
    const response = await decide(gateway, asked[form])
    expect(await response.text()).toBe(answer)
    const input = form === 'openai' ? asked.openai.input : asked.typesafe.state
    const bytes = JSON.stringify(input).length + JSON.stringify(asked[form].questions).length
    expect(gateway.log.find(({ message }) => message === 'request')?.fields).toMatchObject({
      tokens_in: Math.ceil(bytes / 4),
      tokens_out: 0,
      estimated: true,
    })
  })

  const other = form === 'openai' ? answers.typesafe : answers.openai

  test.each<[string, Responder]>([
    ['an answer in the other form', whole(other)],
    ['an answer without answers', json({ model: 'x', usage: { input_tokens: 1 } })],
    ['no answer to any question', json({ answers: form === 'openai' ? [] : {} })],
    ['a list in place of the answer', json([{}])],
    ['text', whole('Bad gateway')],
    ['an empty body', whole('')],
    ['an error with status 200', json({ error: { message: 'the words', type: 'server_error' } })],
    ['a failure with status 200', json({ success: false, errors: [{ message: 'the words' }] })],
  ])('%s is retried, and then LM-3002', async (_, responder) => {
    const gateway = await open(form)
    gateway.upstream.always(responder)
    const response = await afterRetries(gateway, decide(gateway, asked[form]))
    expect(response.status).toBe(502)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3002' })
    expect(gateway.upstream.requests.length).toBeGreaterThan(1)
  })

  test('refusals of the upstream keep its words and its status', async () => {
    const gateway = await open(form, {})
    const statuses = fc.constantFrom(400, 404, 409, 422)
    const words = fc.stringMatching(/^[A-Z][a-z]{2,9}( [a-z']{1,9}){1,5}$/)
    const shapes = fc.constantFrom<(message: string) => object>(
      (message) => ({ error: { message, type: 'invalid_request_error', param: 'questions' } }),
      (message) => ({ error: { code: 'bad_question', message } }),
      (message) => ({ detail: message }),
      (message) => ({ detail: [{ loc: ['body', 'questions'], msg: message }] }),
      (message) => ({ message }),
    )
    const property = fc.asyncProperty(statuses, words, shapes, async (status, message, shape) => {
      gateway.upstream.next(json(shape(message), { status }))
      const response = await decide(gateway, asked[form])
      expect(response.status).toBe(status)
      const error = await expectErrorShape(response)
      expect(error.message).toContain(message)
    })
    await fc.assert(property, { numRuns: 40 })
  })

  test('the strict upstream refuses what it does not take, and the client reads why', async () => {
    const gateway = await open(form)
    gateway.upstream.always(strictUpstream(form, providerKey))
    const wrong = { type: 'gauge', instructions: 'x' }
    const questions = form === 'openai' ? [wrong] : { q: wrong }
    const response = await decide(gateway, { ...asked[form], questions })
    expect(response.status).toBe(form === 'openai' ? 400 : 422)
    expect((await expectErrorShape(response)).message).toMatch(/Invalid/)
  })
})

describe('which form a request has', () => {
  const list = asked.openai.questions
  const named = asked.typesafe.questions

  test.each<[string, object, string, string]>([
    ['neither input nor state', { questions: list }, 'input', 'input or state is required'],
    ['input that is null', { input: null, questions: list }, 'input', 'is required'],
    ['both', { input: 'x', state: 'x', questions: list }, 'state', 'together with input'],
    ['no questions', { input: 'x' }, 'questions', 'is required'],
    ['questions that are null', { state: 'x', questions: null }, 'questions', 'is required'],
    ['an empty list', { input: 'x', questions: [] }, 'questions', 'must not be empty'],
    ['an empty object', { state: 'x', questions: {} }, 'questions', 'must not be empty'],
    ['input with named questions', { input: 'x', questions: named }, 'questions', 'an array'],
    ['state with a list', { state: 'x', questions: list }, 'questions', 'an object'],
    ['questions that are text', { state: 'x', questions: 'q' }, 'questions', 'an object'],
    ['input that is an object', { input: {}, questions: list }, 'input', 'a string or an array'],
    ['state that is a number', { state: 1, questions: named }, 'state', 'an object or an array'],
    ['a stream', { ...asked.openai, stream: true }, 'stream', 'not streamed'],
    ['no model', { ...asked.openai, model: undefined }, 'model', 'model is required'],
    ['an empty model', { ...asked.openai, model: '' }, 'model', 'must not be empty'],
  ])('%s is LM-1001 before any call', async (_, fields, param, message) => {
    const gateway = await openBoth()
    const response = await decide(gateway, { model: 'openai', ...fields })
    expect(response.status).toBe(400)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-1001', param })
    expect(error.message).toContain(message)
    expect(gateway.upstream.requests).toEqual([])
  })

  test.each([
    ['model', '"m"'],
    ['input', '"x"'],
    ['state', '"x"'],
    ['questions', '[]'],
    ['stream', 'false'],
  ])('%s twice, or in another letter case, is LM-1001', async (name, value) => {
    const both = await openBoth()
    const body = JSON.stringify(name === 'state' ? asked.typesafe : asked.openai).slice(0, -1)
    const upper = name.toUpperCase()
    const repeated = name === 'stream' ? `"stream":false,"stream":false` : `"${name}":${value}`
    for (const more of [repeated, `"${upper}":${value}`]) {
      const response = await decide(both, `${body},${more}}`)
      expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1001', param: name })
    }
  })

  test.each([false, null])('stream that is %j passes', async (stream) => {
    const gateway = await open('openai')
    gateway.upstream.next(whole(answers.openai))
    expect((await decide(gateway, { ...asked.openai, stream })).status).toBe(200)
  })

  test('the form of OpenAI is LM-1001 at the path of TypeSafe, which names the other path', async () => {
    const both = await openBoth()
    const response = await decide(
      both,
      { ...asked.openai, model: 'openai' },
      { path: '/v1/systemone' },
    )
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-1001', param: 'input' })
    expect(error.message).toContain('/v1/decisions')
    const missing = await decide(
      both,
      { model: 'openai', questions: named },
      { path: '/v1/systemone' },
    )
    expect(await expectErrorShape(missing)).toMatchObject({
      param: 'state',
      message: 'state is required',
    })
  })

  test.each(forms)('a model of the other form than %s is LM-1001 before any call', async (form) => {
    const gateway = await openBoth()
    const model = form === 'openai' ? 'typesafe' : 'openai'
    const response = await decide(gateway, { ...asked[form], model })
    expect(response.status).toBe(400)
    const error = await expectErrorShape(response)
    const [sent, taken] = form === 'openai' ? ['input', 'state'] : ['state', 'input']
    expect(error).toMatchObject({ code: 'LM-1001', param: sent })
    expect(error.message).toContain(`takes decisions with ${taken}`)
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a model without the capability is LM-2002', async () => {
    const gateway = await watchedGateway(
      decisionConfig({ kind: 'openai', model: { capabilities: ['chat'] } }),
    )
    const response = await decide(gateway, asked.openai)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-2002' })
  })

  test.each(['/v1/decisions', '/v1/systemone'])('%s takes POST only', async (path) => {
    const gateway = await openBoth()
    const response = await gateway.get(path)
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })
})

describe('the models for clients of TypeSafe', () => {
  const headers = { 'x-typesafe-sdk': 'typesafe-sdk/0.6.0' }

  test('are those for decisions, in its form', async () => {
    const chat = decisionConfig({
      kind: 'openai',
      provider: { name: 'chat' },
      model: { id: 'chat', capabilities: ['chat'] },
    })
    const both = forms.map((form) =>
      decisionConfig({ kind: kinds[form], provider: { name: form }, model: { id: form } }),
    )
    const gateway = await watchedGateway([chat, ...both].join('\n'))
    const { models } = await (await gateway.get('/v1/models', { headers })).json()
    const cards = forms.map((name) => ({
      name,
      description: name,
      release_date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    }))
    expect(models).toEqual(cards)
    expect(await (await gateway.get('/v1/models/typesafe', { headers })).json()).toEqual(
      cards[forms.indexOf('typesafe')],
    )
    const response = await gateway.get('/v1/models/chat', { headers })
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-2001' })
    expect(await (await gateway.get('/v1/models')).json()).toHaveProperty('data')
  })
})

/** A gateway with a model of each form, named by it. */
function openBoth(): Promise<TestGateway> {
  const providers = forms.map((form) =>
    decisionConfig({ kind: kinds[form], provider: { name: form }, model: { id: form } }),
  )
  return watchedGateway(providers.join('\n'))
}

describe('images', () => {
  const picture = 'data:image/png;base64,'.padEnd(40_000, 'A')
  const image = { type: 'input_image', image_url: picture }
  const seeing = { modalities: ['text', 'image'] }
  const q = asked.openai.questions
  const bodies: readonly [string, object, string][] = [
    [
      'a message',
      {
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }, image] }],
        questions: q,
      },
      'input.0.content.1.image_url',
    ],
    [
      'the output of a tool',
      { input: [{ type: 'function_call_output', call_id: 'c', output: [image] }], questions: q },
      'input.0.output.0.image_url',
    ],
    [
      'instructions',
      { input: 'x', questions: [{ type: 'predicate', instructions: [image] }] },
      'questions.0.instructions.0.image_url',
    ],
    ['images', { state: 'x', images: [picture], questions: asked.typesafe.questions }, 'images.0'],
    [
      'an image as an object',
      {
        state: 'x',
        images: [{ content_type: 'image/png', base64: 'A' }],
        questions: asked.typesafe.questions,
      },
      'images.0',
    ],
    [
      'assets',
      {
        state: 'x',
        assets: { cat: { type: 'image', format: 'png', data_base64: 'A' } },
        questions: asked.typesafe.questions,
      },
      'assets.cat',
    ],
  ]

  test.each(bodies)('in %s need the image modality: LM-2003', async (_, fields, param) => {
    const form = 'state' in fields ? 'typesafe' : 'openai'
    const blind = await open(form)
    const refused = await decide(blind, { model: 'm', ...fields })
    expect(await expectErrorShape(refused)).toMatchObject({ code: 'LM-2003', param })
    const gateway = await open(form, seeing)
    gateway.upstream.next(json({ answers: form === 'openai' ? [{}] : { a: {} } }))
    expect((await decide(gateway, { model: 'm', ...fields })).status).toBe(200)
    // An image counts as in chat, and its bytes do not.
    const line = gateway.log.find(({ message }) => message === 'request')
    expect(Number(line?.fields['tokens_in'])).toBeGreaterThan(765)
    expect(Number(line?.fields['tokens_in'])).toBeLessThan(1000)
  })

  test('an address on the network is for the vendor to fetch', async () => {
    const gateway = await open('openai', seeing)
    gateway.upstream.next(whole(answers.openai))
    const remote = { type: 'input_image', image_url: 'https://a.test/cat.png', detail: 'low' }
    const body = { ...asked.openai, input: [{ role: 'user', content: [remote] }] }
    expect((await decide(gateway, body)).status).toBe(200)
    expect(gateway.upstream.text()).toContain('https://a.test/cat.png')
  })

  test.each<[string, object]>([
    [
      'data that looks like an image',
      { input: [{ role: 'user', content: [{ type: 'input_json', data: image }] }], questions: q },
    ],
    ['no images', { state: 'x', images: [], assets: {}, questions: asked.typesafe.questions }],
    ['images that are null', { state: 'x', images: null, questions: asked.typesafe.questions }],
  ])('%s needs no modality', async (_, fields) => {
    const form = 'state' in fields ? 'typesafe' : 'openai'
    const gateway = await open(form)
    gateway.upstream.next(whole(answers[form]))
    expect((await decide(gateway, { model: 'm', ...fields })).status).toBe(200)
  })

  test('a fallback that takes none is LM-2003, too', async () => {
    const second = decisionConfig({ kind: 'openai', provider: { name: 'q' }, model: { id: 'n' } })
    const first = decisionConfig({ kind: 'openai', model: { ...seeing, fallbacks: ['n'] } })
    const gateway = await watchedGateway(first + second)
    const body = { ...asked.openai, input: [{ role: 'user', content: [image] }] }
    expect(await expectErrorShape(await decide(gateway, body))).toMatchObject({ code: 'LM-2003' })
  })
})

describe('headers', () => {
  const headers = { 'TypeSafe-Danger-Zone-Images': 'true', 'openai-beta': 'x', 'x-other': 'y' }

  test('those of TypeSafe reach its upstream, and no others do', async () => {
    const gateway = await open('typesafe')
    gateway.upstream.next(whole(answers.typesafe))
    await decide(gateway, asked.typesafe, { headers })
    const sent = gateway.upstream.requests[0]?.headers ?? {}
    expect(sent).toMatchObject({ 'typesafe-danger-zone-images': 'true' })
    expect(Object.keys(sent)).not.toContain('openai-beta')
    expect(Object.keys(sent)).not.toContain('x-other')
  })

  test('they do not reach an upstream of the other form', async () => {
    const gateway = await open('openai')
    gateway.upstream.next(whole(answers.openai))
    await decide(gateway, asked.openai, { headers })
    expect(Object.keys(gateway.upstream.requests[0]?.headers ?? {}).join()).not.toContain(
      'typesafe',
    )
  })
})
