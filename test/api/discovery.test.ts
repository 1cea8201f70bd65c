import { AwsV4Signer } from 'aws4fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import type { Responder } from '../support/scripted-upstream.ts'
import { json, ScriptedUpstream, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const hour = 3_600_000

const openAi = (...ids: readonly string[]) =>
  json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })

interface VendorConfig {
  readonly kind?: string
  readonly lines?: string
  readonly models?: string
}

const provider = ({
  kind = 'openai',
  lines = '',
  models = '{ id = "lab/*" }',
}: VendorConfig = {}) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
discover = true
${lines}
models = [${models}]
`

/** An upstream that answers lists with the current one, and other requests with a completion. */
class Vendor {
  list: Responder = openAi()
  /** The addresses of the lists that were read. */
  readonly reads: string[] = []
  readonly upstream = new ScriptedUpstream().always((request) => {
    if (request.method !== 'GET') return json(completion())(request)
    this.reads.push(request.url)
    return this.list(request)
  })
}

async function discovering(
  config: string,
  list: Responder,
): Promise<TestGateway & { vendor: Vendor }> {
  const vendor = new Vendor()
  vendor.list = list
  const watched = await watchedGateway(config, { upstream: vendor.upstream.port })
  onTestFinished(() => void watched.gateway.close())
  await settled()
  return { ...watched, upstream: vendor.upstream, vendor }
}

async function listIds({ get }: Pick<TestGateway, 'get'>, headers = {}): Promise<string[]> {
  const { data } = (await (await get('/v1/models', { headers })).json()) as {
    data: { id: string }[]
  }
  return data.map(({ id }) => id)
}

const status = async ({ chat }: Pick<TestGateway, 'chat'>, model: string) =>
  (await chat({ model, messages })).status

describe('a provider with discover', () => {
  test('lists what its vendor lists, in the forms of all APIs', async () => {
    const gateway = await discovering(
      provider({
        models:
          '{ id = "own" }, { id = "lab/*", max_output_tokens = 9 }, { id = "lab/big-*", upstream_id = "big-*" }',
      }),
      openAi('b', 'a', 'big-1', 'big-', 'ą'),
    )
    const { get } = gateway
    expect(await listIds(gateway)).toEqual(['own', 'lab/b', 'lab/a', 'lab/big-', 'lab/big-1'])
    expect(await (await get('/v1/models/lab/a')).json()).toEqual({
      id: 'lab/a',
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'p',
      capabilities: ['chat'],
      modalities: ['text'],
    })
    const claude = await (await get('/v1/models', { headers: { 'anthropic-version': 'x' } })).json()
    expect(claude).toMatchObject({
      data: ['own', 'lab/b', 'lab/a', 'lab/big-', 'lab/big-1'].map((id) => ({ id })),
    })
    const gemini = await (await get('/v1beta/models?pageSize=2')).json()
    expect(gemini).toMatchObject({
      models: [{ name: 'models/own' }, { name: 'models/lab/b', outputTokenLimit: 9 }],
      nextPageToken: 'lab/a',
    })
  })

  test('a model that appears is usable within the interval, and a removed one is unknown', async () => {
    const gateway = await discovering(provider(), openAi('a'))
    const { clock, vendor } = gateway
    expect(await status(gateway, 'lab/a')).toBe(200)
    expect(await status(gateway, 'lab/b')).toBe(404)
    vendor.list = openAi('b')
    await clock.advance(hour - 1)
    expect(await status(gateway, 'lab/b')).toBe(404)
    await clock.advance(1)
    expect(await status(gateway, 'lab/b')).toBe(200)
    const removed = await gateway.chat({ model: 'lab/a', messages })
    expect(await expectErrorShape(removed)).toMatchObject({
      code: 'LM-2001',
      message: expect.stringContaining('did you mean lab/b?'),
    })
    expect(await listIds(gateway)).toEqual(['lab/b'])
    expect(vendor.reads).toHaveLength(2)
  })

  test('the interval is that of the setting', async () => {
    const lines = 'discover_interval_ms = 100'
    const { clock, vendor } = await discovering(provider({ lines }), openAi('a'))
    await clock.advance(1_000)
    expect(vendor.reads).toHaveLength(11)
  })

  test('until the vendor has answered, every id of a pattern is served, and no request waits', async () => {
    const pending: (() => void)[] = []
    const gateway = await discovering(
      provider(),
      (request) =>
        new Promise((resolve, reject) => {
          pending.push(() => void openAi('a')(request).then(resolve, reject))
        }),
    )
    expect(await status(gateway, 'lab/any')).toBe(200)
    expect(await listIds(gateway)).toEqual([])
    pending.shift()?.()
    await settled()
    expect(await status(gateway, 'lab/any')).toBe(404)
    expect(await listIds(gateway)).toEqual(['lab/a'])
  })

  test.each<[string, Responder]>([
    ['a status', json({}, { status: 500 })],
    ['a page of HTML', whole('<html>')],
    ['JSON that is no list', json({ data: 'none' })],
    ['a network failure', () => Promise.reject(new Error('boom'))],
    ['silence', () => new Promise(() => {})],
  ])('the last list stays after %s, which is logged once and counted', async (_, failure) => {
    const gateway = await discovering(provider(), openAi('a'))
    const { clock, vendor, log, get } = gateway
    vendor.list = failure
    await clock.advance(hour + 30_000)
    await clock.advance(hour)
    expect([await status(gateway, 'lab/a'), await status(gateway, 'lab/b')]).toEqual([200, 404])
    const warnings = log.filter(
      ({ level, message }) => level === 'warn' && message !== 'attempt failed',
    )
    expect(warnings).toEqual([
      {
        level: 'warn',
        message: 'the list of models cannot be read',
        fields: { provider: 'p', reason: expect.any(String), models: 1 },
      },
    ])
    const metrics = await (await get('/metrics')).text()
    expect(metrics).toContain('gateway_model_lists_total{provider="p",result="success"} 1')
    expect(metrics).toMatch(/gateway_model_lists_total\{provider="p",result="failure"\} [2-9]/)
    expect(metrics).toContain('gateway_listed_models{provider="p"} 1')
  })

  test('a failure is tried again after a minute, and then after twice as long', async () => {
    const gateway = await discovering(provider(), json({}, { status: 503 }))
    const { clock, vendor } = gateway
    const counts: number[] = []
    for (const wait of [59_999, 1, 119_999, 1]) {
      await clock.advance(wait)
      counts.push(vendor.reads.length)
    }
    expect(counts).toEqual([1, 2, 2, 3])
    vendor.list = openAi('a')
    await clock.advance(240_000)
    expect(await listIds(gateway)).toEqual(['lab/a'])
  })

  test('an empty list is a list', async () => {
    const gateway = await discovering(provider(), json({ object: 'list', data: null }))
    expect(await status(gateway, 'lab/a')).toBe(404)
  })

  test('metrics have the names of listed models', async () => {
    const gateway = await discovering(provider(), openAi('a'))
    await status(gateway, 'lab/a')
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toMatch(/gateway_request_duration_seconds_count\{.*model="lab\/a"/)
    expect(metrics).toContain('gateway_circuit_state{provider="p",model="lab/a"} 0')
  })

  test('an entry with the id itself is served without the list', async () => {
    const models = '{ id = "lab/own", upstream_id = "x" }, { id = "lab/*" }'
    const gateway = await discovering(provider({ models }), openAi('a', 'own'))
    expect(await status(gateway, 'lab/own')).toBe(200)
    expect(gateway.upstream.body()).toMatchObject({ model: 'x' })
    expect(await listIds(gateway)).toEqual(['lab/own', 'lab/a'])
  })

  test('the overview says how often its list is read', async () => {
    const { gateway } = await discovering(provider(), openAi('a'))
    expect(gateway.overview.providers).toMatchObject([{ name: 'p', listInterval: hour }])
  })

  test('without a pattern the vendor is not asked', async () => {
    const { vendor } = await discovering(provider({ models: '{ id = "m" }' }), openAi('a'))
    expect(vendor.reads).toEqual([])
  })

  test('its end ends the reading', async () => {
    let isAborted = false
    const gateway = await discovering(provider(), (request) => {
      request.signal.addEventListener('abort', () => {
        isAborted = true
      })
      return new Promise(() => {})
    })
    await gateway.gateway.close()
    expect(isAborted).toBe(true)
    expect(gateway.clock.pending).toBe(0)
  })
})

describe('the lists of vendors', () => {
  const key = 'sk-test-canary-0123456789'

  /** Plays pages, and returns what was read and asked. */
  async function read(config: VendorConfig, ...pages: readonly unknown[]) {
    const upstream = new ScriptedUpstream().next(...pages.map((page) => json(page)))
    upstream.always(json(completion()))
    const watched = await watchedGateway(provider(config), { upstream: upstream.port })
    onTestFinished(() => void watched.gateway.close())
    await settled()
    const calls = upstream.requests.map(({ method, url, headers }) => ({ method, url, headers }))
    return { ids: await listIds(watched), calls, ...watched }
  }

  test.each([
    ['openai', 'https://api.openai.com/v1/models'],
    ['groq', 'https://api.groq.com/openai/v1/models'],
    ['ollama', 'http://localhost:11434/v1/models'],
    ['openrouter', 'https://openrouter.ai/api/v1/models'],
  ])('%s has one page', async (kind, url) => {
    const { ids, calls } = await read({ kind }, { data: [{ id: 'a' }, null, { name: 'b' }] })
    expect(ids).toEqual(['lab/a'])
    expect(calls).toMatchObject([
      { method: 'GET', url, headers: { authorization: `Bearer ${key}` } },
    ])
  })

  test('together has a bare array', async () => {
    const { ids } = await read({ kind: 'together' }, [{ id: 'a' }])
    expect(ids).toEqual(['lab/a'])
  })

  test('anthropic has pages, and serves its names without their dates', async () => {
    const { ids, calls, chat } = await read(
      { kind: 'anthropic' },
      { data: [{ id: 'claude-haiku-4-5-20251001' }], has_more: true, last_id: 'x' },
      { data: [{ id: 'claude-opus-4-6' }], has_more: false, last_id: 'y' },
    )
    expect(ids).toEqual(['lab/claude-haiku-4-5-20251001', 'lab/claude-opus-4-6'])
    expect(calls.map(({ url }) => url)).toEqual([
      'https://api.anthropic.com/v1/models?limit=1000',
      'https://api.anthropic.com/v1/models?limit=1000&after_id=x',
    ])
    expect(calls[0]?.headers).toMatchObject({ 'x-api-key': key, 'anthropic-version': '2023-06-01' })
    const unknown = await chat({ model: 'lab/claude-haiku-4-4', messages })
    const known = await chat({ model: 'lab/claude-haiku-4-5', messages })
    expect([unknown.status, known.status]).toEqual([404, 502])
  })

  test('google has pages, and says what its models serve', async () => {
    const { ids, calls } = await read(
      { kind: 'google' },
      {
        models: [
          { name: 'models/gemini-3-pro', supportedGenerationMethods: ['generateContent'] },
          { name: 'models/gemini-embedding', supportedGenerationMethods: ['embedContent'] },
        ],
        nextPageToken: 'n',
      },
      { models: [{ name: 'models/other' }] },
    )
    expect(ids).toEqual(['lab/gemini-3-pro', 'lab/other'])
    expect(calls.map(({ url }) => url)).toEqual([
      'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000',
      'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000&pageToken=n',
    ])
    expect(calls[0]?.headers).toMatchObject({ 'x-goog-api-key': key })
  })

  test('cohere has pages, and says what its models serve', async () => {
    const { ids, calls } = await read(
      { kind: 'cohere', models: '{ id = "lab/*", capabilities = ["rerank"] }' },
      { models: [{ name: 'command', endpoints: ['chat'] }], next_page_token: 't' },
      { models: [{ name: 'rerank-4', endpoints: ['rerank'] }], next_page_token: '' },
    )
    expect(ids).toEqual(['lab/rerank-4'])
    expect(calls.map(({ url }) => url)).toEqual([
      'https://api.cohere.com/v1/models?page_size=1000',
      'https://api.cohere.com/v1/models?page_size=1000&page_token=t',
    ])
  })

  test('bedrock lists what a region serves on demand, and then the profiles of the account', async () => {
    const text = { outputModalities: ['TEXT'], inferenceTypesSupported: ['ON_DEMAND'] }
    const pages = [
      {
        modelSummaries: [
          { modelId: 'amazon.nova-pro-v1:0', modelArn: 'arn:aws:bedrock:x', ...text },
          { modelId: 'amazon.titan-embed-text-v2:0', outputModalities: ['EMBEDDING'] },
          { modelId: 'cohere.rerank-v3-5:0', ...text },
          { modelId: 'amazon.nova-canvas-v1:0', outputModalities: ['IMAGE'] },
          {
            modelId: 'anthropic.claude-opus-4-6-v1:0',
            outputModalities: ['TEXT'],
            inferenceTypesSupported: ['INFERENCE_PROFILE'],
          },
        ],
      },
      {
        inferenceProfileSummaries: [
          { inferenceProfileId: 'us.anthropic.claude-opus-4-6-v1:0', status: 'ACTIVE' },
          { inferenceProfileId: 'us.stability.stable-image-v1:0', status: 'ACTIVE' },
        ],
        nextToken: 'n/1',
      },
      { inferenceProfileSummaries: [{ inferenceProfileId: 'global.amazon.nova-2-lite-v1:0' }] },
    ]
    const lines = 'base_url = "eu-west-1"'
    const { ids, calls } = await read({ kind: 'bedrock', lines }, ...pages)
    expect(ids).toEqual([
      'lab/amazon.nova-pro-v1:0',
      'lab/us.anthropic.claude-opus-4-6-v1:0',
      'lab/global.amazon.nova-2-lite-v1:0',
    ])
    const host = 'https://bedrock.eu-west-1.amazonaws.com'
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${host}/foundation-models`,
      `GET ${host}/inference-profiles?maxResults=1000`,
      `GET ${host}/inference-profiles?maxResults=1000&nextToken=n%2F1`,
    ])
    expect(calls[2]?.headers).toMatchObject({ authorization: `Bearer ${key}` })
    for (const [capability, id] of [
      ['embed', 'lab/amazon.titan-embed-text-v2:0'],
      ['rerank', 'lab/cohere.rerank-v3-5:0'],
    ] as const) {
      const models = `{ id = "lab/*", capabilities = ["${capability}"] }`
      expect((await read({ kind: 'bedrock', lines, models }, ...pages)).ids).toEqual([id])
    }
  })

  test('a list of bedrock is signed as the request that it is, for the region of the key', async () => {
    const upstream = new ScriptedUpstream().next(
      json({ modelSummaries: [] }),
      json({ inferenceProfileSummaries: [{ inferenceProfileId: 'us.a.b' }] }),
    )
    const secret = {
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      region: 'us-west-2',
    }
    const watched = await watchedGateway(provider({ kind: 'bedrock' }), {
      upstream: upstream.port,
      env: { P_KEY: JSON.stringify(secret) },
    })
    onTestFinished(() => void watched.gateway.close())
    await expect.poll(() => listIds(watched)).toEqual(['lab/us.a.b'])
    const [models, profiles] = upstream.requests
    expect(new URL(models?.url ?? '').host).toBe('bedrock.us-west-2.amazonaws.com')
    for (const request of [models, profiles]) {
      const { url = '', headers = {} } = request ?? {}
      const at = headers['x-amz-date'] ?? ''
      const signer = new AwsV4Signer({
        method: 'GET',
        url,
        headers: { 'x-amz-content-sha256': headers['x-amz-content-sha256'] ?? '' },
        accessKeyId: secret.access_key_id,
        secretAccessKey: secret.secret_access_key,
        service: 'bedrock',
        region: 'us-west-2',
        datetime: at,
        allHeaders: true,
      })
      expect(headers['authorization']).toBe((await signer.sign()).headers.get('authorization'))
    }
  })

  test('vertex_ai lists the models of its publisher, whatever the project', async () => {
    const pages = [
      {
        publisherModels: [
          { name: 'publishers/google/models/gemini-3-pro', versionId: 'default' },
          { name: 'publishers/google/models/gemini-2.0-flash', versionId: '001' },
          { name: 'publishers/google/models/imagen-4', versionId: '001' },
          { name: 'publishers/google/models/gemini-live-2.5-flash' },
        ],
        nextPageToken: 'n',
      },
      { publisherModels: [{ name: 'publishers/google/models/gemini-embedding-001' }] },
    ]
    const address =
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4'
    const lines = `base_url = "${address}"`
    const { ids, calls, chat } = await read({ kind: 'vertex_ai', lines }, ...pages)
    expect(ids).toEqual(['lab/gemini-3-pro', 'lab/gemini-2.0-flash'])
    const list = 'https://europe-west4-aiplatform.googleapis.com/v1beta1/publishers/google/models'
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${list}?pageSize=1000`,
      `GET ${list}?pageSize=1000&pageToken=n`,
    ])
    const versioned = await chat({ model: 'lab/gemini-2.0-flash-001', messages })
    const unknown = await chat({ model: 'lab/imagen-4', messages })
    expect([versioned.status, unknown.status]).toEqual([502, 404])
    const models = '{ id = "lab/*", capabilities = ["embed"] }'
    const embeds = await read({ kind: 'vertex_ai', lines: 'base_url = "global"', models }, ...pages)
    expect(embeds.ids).toEqual(['lab/gemini-embedding-001'])
    expect(embeds.calls[0]?.url).toBe(
      'https://aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=1000',
    )
  })

  test('names with parts that the vendor adds are served', async () => {
    const ollama = await read({ kind: 'ollama' }, { data: [{ id: 'qwen3:latest' }] })
    expect(await status(ollama, 'lab/qwen3')).toBe(200)
    expect(await status(ollama, 'lab/qwen3:8b')).toBe(404)
    const router = await read({ kind: 'openrouter' }, { data: [{ id: 'z/glm-5' }] })
    expect(await status(router, 'lab/z/glm-5:nitro')).toBe(200)
    const face = await read(
      { kind: 'huggingface' },
      { data: [{ id: 'z/glm-5', providers: [{ provider: 'novita' }] }] },
    )
    expect(await status(face, 'lab/z/glm-5:novita')).toBe(200)
    expect(await status(face, 'lab/z/glm-5:other')).toBe(404)
  })

  test('pages without an end are a failure', async () => {
    let page = 0
    const upstream = new ScriptedUpstream().always((request) =>
      json({ data: [], has_more: true, last_id: String(page++) })(request),
    )
    const { gateway, log } = await watchedGateway(provider({ kind: 'anthropic' }), {
      upstream: upstream.port,
    })
    onTestFinished(() => void gateway.close())
    await expect.poll(() => log.filter(({ level }) => level === 'warn')).toHaveLength(1)
    expect(page).toBe(100)
  })

  test('a key that is refused is not the only one that is tried', async () => {
    const upstream = new ScriptedUpstream().next(json({}, { status: 401 }), openAi('a'))
    const watched = await watchedGateway(provider({ lines: 'api_key_envs = ["Q_KEY"]' }), {
      upstream: upstream.port,
      env: { P_KEY: 'sk-first-0123456789', Q_KEY: 'sk-second-0123456789' },
    })
    onTestFinished(() => void watched.gateway.close())
    await settled()
    expect(await listIds(watched)).toEqual(['lab/a'])
    expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer sk-first-0123456789',
      'Bearer sk-second-0123456789',
    ])
  })
})

describe('with keys', () => {
  test('a list has what the key may use, and the status has the lists', async () => {
    const vendor = new Vendor()
    vendor.list = openAi('a', 'b')
    const gateway = await keyedGateway(provider(), { upstream: vendor.upstream.port })
    onTestFinished(() => void gateway.gateway.close())
    const held = await gateway.key({ models: ['lab/b'] })
    expect(await listIds(gateway, held.headers)).toEqual(['lab/b'])
    const { body } = await gateway.admin('GET', '/admin/status')
    expect(body).toMatchObject({
      model_lists: { p: { models: 2, listed_at: 1_764_000_000, failure: null } },
    })
  })
})

describe('a reload', () => {
  test('keeps the list, and reads it again at once', async () => {
    const vendor = new Vendor()
    vendor.list = openAi('a')
    const gateway = await reloadingGateway(provider(), { upstream: vendor.upstream.port })
    onTestFinished(() => void gateway.gateway.close())
    const { headers } = await gateway.key()
    vendor.list = json({}, { status: 500 })
    await gateway.change(provider({ lines: 'total_timeout_ms = 5000' }))
    expect(vendor.reads).toHaveLength(2)
    expect(await listIds(gateway, headers)).toEqual(['lab/a'])
    vendor.list = openAi('b')
    await gateway.change(provider())
    await settled()
    expect(await listIds(gateway, headers)).toEqual(['lab/b'])
  })

  test('ends the reading of a provider that is gone, or that no longer has discover', async () => {
    const vendor = new Vendor()
    vendor.list = openAi('a')
    const gateway = await reloadingGateway(provider(), { upstream: vendor.upstream.port })
    onTestFinished(() => void gateway.gateway.close())
    const { headers } = await gateway.key()
    await gateway.change(provider().replace('discover = true', ''))
    expect(await listIds(gateway, headers)).toEqual([])
    await gateway.clock.advance(2 * hour)
    expect(vendor.reads).toHaveLength(1)
  })
})
