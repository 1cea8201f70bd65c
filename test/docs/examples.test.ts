import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import type { Capability } from '../../src/core/capability.ts'
import { checkConfig, type UpstreamRequest } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { keyedGateway, masterKey } from '../support/keyed-gateway.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * The configurations of examples/, each checked and served.
 */

const folder = new URL('../../examples/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const names = readdirSync(folder).filter((name) => name.endsWith('.toml'))
const isValid = new Ajv({ strictTypes: false }).compile(JSON.parse(read('../gateway.schema.json')))

interface File {
  readonly providers: readonly {
    readonly models: readonly {
      readonly id: string
      readonly capabilities?: readonly Capability[]
    }[]
  }[]
  readonly routes?: readonly { readonly id: string }[]
}

/** A value for every variable that the head comment sets. */
function environment(text: string): Readonly<Record<string, string>> {
  const [line = ''] = text.match(/^# Start: .*$/m) ?? []
  const named = [...line.matchAll(/\b([A-Z][A-Z_]+)=/g)].map(([, name = '']) => [
    name,
    `key-of-${name}`,
  ])
  return { ...Object.fromEntries(named), GATEWAY_MASTER_KEY: masterKey }
}

/** Answers in the vendor's own format, which the address shows. */
const vendor: Responder = (request) => json(answerTo(request))(request)

function answerTo({ url }: UpstreamRequest): object {
  if (url.includes('anthropic.com')) {
    const usage = { input_tokens: 9, output_tokens: 2 }
    const content = [{ type: 'text', text: 'Hi' }]
    return { type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage }
  }
  if (url.includes('bedrock')) {
    const message = { role: 'assistant', content: [{ text: 'Hi' }] }
    const usage = { inputTokens: 9, outputTokens: 2, totalTokens: 11 }
    return { output: { message }, stopReason: 'end_turn', usage }
  }
  if (url.includes('googleapis')) {
    const content = { role: 'model', parts: [{ text: 'Hi' }] }
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 }
    return { candidates: [{ content, finishReason: 'STOP' }], usageMetadata }
  }
  if (url.endsWith('/api/embed')) return { embeddings: [[0.5]], prompt_eval_count: 3 }
  if (url.endsWith('/decisions')) return { answers: [{ type: 'predicate', probability: 0.9 }] }
  if (url.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 0.9 }] }
  if (url.endsWith('/embeddings')) {
    return { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 3, total_tokens: 3 } }
  }
  return completion()
}

/** One request for each model and route, with the capability that the model is for. */
function listRequests({ providers, routes = [] }: File) {
  const models = providers.flatMap((provider) => provider.models)
  return [
    ...models.map(({ id, capabilities: [capability = 'chat'] = [] }) => ({
      ...requests[capability],
      model: id,
    })),
    ...routes.map(({ id }) => ({ ...requests.chat, model: id })),
  ]
}

const requests = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  embed: { path: '/v1/embeddings', body: { input: 'Hi' } },
  rerank: { path: '/v1/rerank', body: { query: 'a', documents: ['b'] } },
  decisions: { path: '/v1/decisions', body: { input: 'a', questions: [{ type: 'predicate' }] } },
}

test('the index lists every example', () => {
  const listed = [...read('README.md').matchAll(/^\| \[([^\]]+)\]\(\1\)/gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(names.toSorted())
})

describe.each(names)('%s', (name) => {
  const text = read(name)
  // The schema and the gateway check the form of the file.
  const file = parse(text) as unknown as File

  test('the head comment says what it is for and how to start it', () => {
    expect(text).toMatch(/^#:schema \.\.\/gateway\.schema\.json\n# [A-Z]/)
    expect(text).toContain(`gateway --config ${name}\n`)
  })

  test('the configuration is valid, with credentials for all, and nothing to warn about', async () => {
    isValid(parse(text))
    expect(isValid.errors).toBeNull()
    const verdict = await checkConfig(text, environment(text))
    expect(verdict).toMatchObject({ ok: true, startProblems: [], overview: { warnings: [] } })
  })

  test('every model and route serves', async () => {
    const { gateway, headers } = await start(text)
    gateway.upstream.always(vendor)
    for (const { path, body, model } of listRequests(file)) {
      const response = await gateway.get(path, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...body, model }),
      })
      expect(response.status, `${model}: ${await response.text()}`).toBe(200)
    }
  })
})

/** Starts a gateway with the file, and with a key if it has auth on. */
async function start(text: string) {
  const options = { env: environment(text) }
  if (!text.includes('[auth]')) return { gateway: await watchedGateway(text, options), headers: {} }
  // `keyedGateway` adds this table itself.
  const gateway = await keyedGateway(text.replace(/^\[auth\]\n(?:\w.*\n)*/m, ''), options)
  return { gateway, headers: (await gateway.key()).headers }
}
