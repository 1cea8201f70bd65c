import { describe, expect, test } from 'vitest'
import { kinds } from '../../../src/providers/index.ts'
import { expectErrorShape } from '../../support/contract.ts'
import {
  answers,
  asked,
  type DecisionSetup,
  decide,
  decisionConfig,
  type Form,
} from '../../support/decisions.ts'
import { providerKey } from '../../support/gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

interface Address extends DecisionSetup {
  readonly form: Form
  readonly url: string
}

const at = (base_url: string) => ({ provider: { base_url } })
const path = (decisions_path: string) => ({ model: { decisions_path } })
const form = (decisions: Form) => ({ model: { decisions } })

const account = 'https://api.cloudflare.com/client/v4/accounts/A'

/** Each kind that serves decisions, with the form and the address that it has without further settings. */
const defaults: readonly Address[] = [
  { kind: 'openai', form: 'openai', url: 'https://api.openai.com/v1/decisions' },
  {
    kind: 'azure',
    ...at('https://r.openai.azure.com'),
    form: 'openai',
    url: 'https://r.openai.azure.com/openai/v1/decisions',
  },
  { kind: 'typesafe', form: 'typesafe', url: 'https://api.typesafe.ai/v1/systemone' },
  { kind: 'perplexity', form: 'typesafe', url: 'https://api.perplexity.ai/v1/decisions' },
  { kind: 'openrouter', form: 'typesafe', url: 'https://openrouter.ai/api/alpha/decisions' },
  { kind: 'fireworks', form: 'typesafe', url: 'https://api.fireworks.ai/inference/v1/systemone' },
  { kind: 'ollama', form: 'typesafe', url: 'http://localhost:11434/v1/systemone' },
  {
    kind: 'vllm',
    ...at('http://vllm:8000/v1'),
    form: 'typesafe',
    url: 'http://vllm:8000/v1/systemone',
  },
  {
    kind: 'lmstudio',
    ...at('http://lm:1234/v1'),
    form: 'typesafe',
    url: 'http://lm:1234/v1/systemone',
  },
  {
    kind: 'cloudflare',
    ...at(`${account}/ai/v1`),
    form: 'typesafe',
    url: `${account}/ai/run/upstream-m`,
  },
]

const others: readonly Address[] = [
  {
    kind: 'openai',
    ...form('typesafe'),
    form: 'typesafe',
    url: 'https://api.openai.com/v1/systemone',
  },
  {
    kind: 'openai',
    ...at('https://nimble.test'),
    ...form('typesafe'),
    form: 'typesafe',
    url: 'https://nimble.test/v1/systemone',
  },
  {
    kind: 'openai',
    ...at('https://a.test/v1/decisions/'),
    form: 'openai',
    url: 'https://a.test/v1/decisions',
  },
  {
    kind: 'typesafe',
    ...at('https://a.test/v1/systemone'),
    form: 'typesafe',
    url: 'https://a.test/v1/systemone',
  },
  {
    kind: 'typesafe',
    ...form('openai'),
    form: 'openai',
    url: 'https://api.typesafe.ai/v1/decisions',
  },
  {
    kind: 'azure',
    ...at('https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21'),
    form: 'openai',
    url: 'https://r.openai.azure.com/openai/v1/decisions',
  },
  {
    kind: 'azure',
    ...at('https://r.services.ai.azure.com/openai/v1'),
    ...form('typesafe'),
    form: 'typesafe',
    url: 'https://r.services.ai.azure.com/providers/microsoft/v1/systemone',
  },
  {
    kind: 'azure',
    ...at('https://r.services.ai.azure.com/api/projects/x'),
    ...form('typesafe'),
    form: 'typesafe',
    url: 'https://r.services.ai.azure.com/providers/microsoft/v1/systemone',
  },
  { kind: 'cloudflare', ...at(account), form: 'typesafe', url: `${account}/ai/run/upstream-m` },
  {
    kind: 'perplexity',
    ...at('https://p.test/v1'),
    form: 'typesafe',
    url: 'https://p.test/v1/decisions',
  },
  {
    kind: 'openrouter',
    ...at('https://eu.openrouter.ai/api/v1'),
    form: 'typesafe',
    url: 'https://eu.openrouter.ai/api/alpha/decisions',
  },
  {
    kind: 'vllm',
    ...at('http://vllm:8000/base/v1?x=1'),
    ...path('/serve/decide?v=2'),
    form: 'typesafe',
    url: 'http://vllm:8000/serve/decide?v=2',
  },
  { kind: 'openai', ...path('/custom'), form: 'openai', url: 'https://api.openai.com/custom' },
]

test.each([...defaults, ...others])('$kind sends decisions of $form to $url', async (address) => {
  const gateway = await watchedGateway(decisionConfig(address))
  gateway.upstream.next(whole(answers[address.form]))
  const response = await decide(gateway, asked[address.form])
  expect(response.status).toBe(200)
  expect(await response.text()).toBe(answers[address.form])
  const [request] = gateway.upstream.requests
  expect(request?.url).toBe(address.url)
  expect(gateway.upstream.text()).toBe(
    JSON.stringify({ ...asked[address.form], model: 'upstream-m' }),
  )
  const name = address.kind === 'azure' ? 'api-key' : 'authorization'
  expect(request?.headers[name]).toBe(
    address.kind === 'azure' ? providerKey : `Bearer ${providerKey}`,
  )
})

test('every kind with the capability is in the table, but for the demo', () => {
  const capable = kinds.filter(({ capabilities }) => capabilities.includes('decisions'))
  const names = capable.map(({ name }) => name).filter((name) => name !== 'demo')
  expect(names.sort()).toEqual(defaults.map(({ kind }) => kind).sort())
  expect(kinds.filter((kind) => kind.decisions)).toEqual(capable)
})

describe('Cloudflare', () => {
  const config = decisionConfig({ kind: 'cloudflare', ...at(account) })

  test('the answer is taken out of its envelope, byte for byte', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(
      whole(`{"success": true, "errors": [], "result": ${answers.typesafe} , "messages": []}`),
    )
    const response = await decide(gateway, asked.typesafe)
    expect(await response.text()).toBe(answers.typesafe)
    expect(gateway.log.find(({ message }) => message === 'request')?.fields).toMatchObject({
      tokens_in: 140,
      estimated: false,
    })
  })

  test('an error in the envelope keeps its words', async () => {
    const gateway = await watchedGateway(`resilience.retry_max_attempts = 1\n${config}`)
    const errors = [{ code: 5007, message: 'No such model' }]
    gateway.upstream.next(json({ success: false, errors, result: {} }))
    const response = await decide(gateway, asked.typesafe)
    expect(response.status).toBe(502)
    expect((await expectErrorShape(response)).message).toContain('No such model')
  })
})

describe('the demo', () => {
  test('answers every question of OpenAI', async () => {
    const gateway = await watchedGateway(decisionConfig({ kind: 'demo' }))
    const response = await decide(gateway, asked.openai)
    expect(await response.json()).toMatchObject({
      model: 'upstream-m',
      answers: [
        { type: 'predicate', name: 'duplicate', probability: expect.any(Number) },
        { type: 'choice', name: 'team', choice: expect.stringMatching(/billing|technical/) },
        { type: 'score', name: null, score: expect.any(Number) },
      ],
    })
  })

  test('answers every question of TypeSafe where it is configured for them', async () => {
    const gateway = await watchedGateway(decisionConfig({ kind: 'demo', ...form('typesafe') }))
    const response = await decide(gateway, asked.typesafe, { path: '/v1/systemone' })
    expect(await response.json()).toMatchObject({
      answers: {
        duplicate: { type: 'noul', noul: expect.any(Number) },
        team: { type: 'choice', choice: expect.stringMatching(/billing|technical/) },
        mood: { type: 'score', legend: { 0: 'calm', 1: 'annoyed', 2: 'angry' } },
      },
    })
  })
})
