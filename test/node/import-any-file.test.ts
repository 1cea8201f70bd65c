import fc from 'fast-check'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { convertLitellm } from '../../adapters/node/import/litellm.ts'
import { openPrices } from '../../adapters/node/prices/index.ts'
import { checkConfig } from '../../src/index.ts'

/*
 * Any configuration of LiteLLM: every setting of it is in the result or in the notes, nothing that was closed is open,
 * and no model gets another address than it has there.
 */

type Table = Record<string, unknown>

/** An object with some of these members. */
function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Table> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Table>
}

const names = ['gpt', 'claude', 'vectors', 'openai/*', 'openai/gpt-4o', '*']
const name = fc.constantFrom(...names)
const key = fc.constantFrom('os.environ/SOME_KEY', 'os.environ/OTHER_KEY', 'sk-canary')
const limits = {
  weight: fc.constantFrom(0, 1, 3),
  order: fc.constantFrom(1, 2),
  rpm: fc.constantFrom(100, 9_000),
  tpm: fc.constantFrom(5_000, 4_000_000),
  max_parallel_requests: fc.constantFrom(1, 40),
  // Two limits are never equal, or one would have no effect.
  timeout: fc.constantFrom(5, 30, 120, 900),
  stream_timeout: fc.constantFrom(4, 29, 119, 899),
  input_cost_per_token: fc.constant(0.000003),
  temperature: fc.constant(0.2),
}

const openai = fc.tuple(
  fc.constantFrom('openai/gpt-4o', 'gpt-4o-mini', 'openai/*', 'groq/llama', 'anthropic/claude-x'),
  some({
    ...limits,
    api_key: key,
    api_base: fc.constantFrom('https://private.test/v1', 'os.environ/BASE', 'os.environ/NOT_SET'),
  }),
)
const cloud = fc.tuple(
  fc.constantFrom('bedrock/anthropic.claude', 'vertex_ai/gemini', 'azure/deployment'),
  some({
    ...limits,
    api_key: key,
    base_url: fc.constant('https://private.test'),
    vertex_project: fc.constant('p'),
    vertex_location: fc.constantFrom('global', 'europe-west4'),
    aws_region_name: fc.constant('eu-central-1'),
    aws_profile_name: fc.constant('team'),
    api_version: fc.constant('2024-10-21'),
    litellm_credential_name: fc.constantFrom('known', 'unknown'),
  }),
)
const other = fc.tuple(fc.constantFrom('sagemaker/x', 'mystery', '*'), some(limits))

const entry = fc
  .tuple(
    name,
    fc.oneof({ weight: 3, arbitrary: openai }, { weight: 2, arbitrary: cloud }, other),
    some({
      mode: fc.constantFrom('embedding', 'rerank', 'image_generation'),
      supports_vision: fc.constant(true),
      max_input_tokens: fc.constant(8_192),
      access_groups: fc.constant(['beta']),
      base_model: fc.constant('x'),
    }),
  )
  .map(([model_name, [model, params], model_info]) => ({
    model_name,
    litellm_params: { model, ...params },
    model_info,
  }))

const fallbacks = fc.array(
  fc.dictionary(name, fc.uniqueArray(name, { minLength: 1, maxLength: 3 }), {
    minKeys: 1,
    maxKeys: 1,
  }),
  {
    maxLength: 2,
  },
)
const shared = {
  fallbacks,
  context_window_fallbacks: fallbacks,
  default_fallbacks: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }),
  num_retries: fc.constantFrom(0, 5),
  allowed_fails: fc.constant(7),
  cooldown_time: fc.constant(2),
}
const redis = {
  redis_host: fc.constantFrom('redis.test', 'os.environ/HOST', 'os.environ/NOT_SET'),
  redis_password: fc.constantFrom('os.environ/SOME_KEY', 'canary'),
}

const file = some({
  router_settings: some({
    ...shared,
    ...redis,
    timeout: fc.constantFrom(45, 700),
    stream_timeout: fc.constantFrom(44, 699),
    routing_strategy: fc.constantFrom('least-busy', 'usage-based-routing'),
    default_max_parallel_requests: fc.constant(9),
    model_group_alias: fc.dictionary(fc.constantFrom('alias', 'gpt'), name, { maxKeys: 1 }),
    enable_pre_call_checks: fc.constant(true),
  }),
  litellm_settings: some({
    ...shared,
    request_timeout: fc.constantFrom(6, 31, 121),
    json_logs: fc.constant(true),
    cache: fc.constant(true),
    cache_params: some({
      type: fc.constantFrom('redis', 'local', 'redis-semantic', 's3'),
      ttl: fc.constant(60),
      supported_call_types: fc.uniqueArray(
        fc.constantFrom('acompletion', 'aembedding', 'atranscription'),
      ),
      host: fc.constant('cache.test'),
    }),
    success_callback: fc.constant(['langfuse']),
  }),
  general_settings: some({
    master_key: fc.constantFrom('sk-canary', 'os.environ/MASTER'),
    custom_auth: fc.constant('auth.check'),
    allowed_ips: fc.constant(['10.0.0.1']),
    store_model_in_db: fc.constant(true),
  }),
  environment_variables: some({
    LITELLM_MASTER_KEY: fc.constant('sk-canary'),
    BASE: fc.constant('https://private.test/v1'),
  }),
  guardrails: fc.constant([{ guardrail_name: 'pii' }]),
}).chain((settings) =>
  fc.array(entry, { minLength: 1, maxLength: 5 }).map((model_list) => ({
    model_list,
    credential_list: [
      { credential_name: 'known', credential_values: { api_base: 'https://private.test' } },
    ],
    ...settings,
  })),
)

const env = { BASE: 'https://private.test/v1', HOST: 'redis.test' }

interface Outcome {
  readonly toml: string
  readonly left: readonly string[]
  readonly next: readonly string[]
}

/** Converts a document. One of which nothing can be converted has its reasons alone. */
function convert(document: object): Outcome {
  try {
    return convertLitellm(structuredClone(document), { name: 'f', env })
  } catch (error) {
    return { toml: '', left: (error as { lines: string[] }).lines, next: [] }
  }
}

const runs = { numRuns: 300 }

test('the result passes the check of the gateway, or the reasons are there', async () => {
  await fc.assert(
    fc.asyncProperty(file, async (document) => {
      const { toml, left, next } = convert(document)
      expect(toml + left + next).not.toContain('canary')
      if (toml === '') {
        expect(left.length).toBeGreaterThan(1)
        return
      }
      const verdict = await checkConfig(toml, {}, { openPrices })
      if (!verdict.ok) expect(verdict.problems.length).toBeGreaterThan(0)
    }),
    runs,
  )
})

test('nothing that was closed is open', () => {
  fc.assert(
    fc.property(file, (document) => {
      const { general_settings: general = {}, environment_variables: variables = {} } =
        document as unknown as Record<string, Table>
      const guards = ['master_key', 'custom_auth', 'allowed_ips'].filter((each) => each in general)
      const { toml } = convert(document)
      if (toml === '' || (guards.length === 0 && !('LITELLM_MASTER_KEY' in variables))) return
      expect(toml).toContain('[auth]\nenabled = true\n')
    }),
    runs,
  )
})

test('a model has the address that it has in LiteLLM, or it is left out', () => {
  fc.assert(
    fc.property(file, (document) => {
      const { toml } = convert(document)
      for (const { kind, base_url: address, models } of readProviders(toml)) {
        for (const { id, upstream_id: upstream = id } of models) {
          const sources = document.model_list.filter(
            (each) => id === each.model_name || id.replace(/-\d+$/, '') === each.model_name,
          )
          const isKnown = sources.some(({ litellm_params }) => {
            const params: Table & { model: string } = litellm_params
            const hidden =
              params['api_base'] ?? params['base_url'] ?? params['litellm_credential_name']
            const isPrivate = address?.startsWith('https://private.test') ?? false
            const isModel = params.model.endsWith(upstream === '*' ? '*' : upstream)
            return isModel && isPrivate === (hidden !== undefined)
          })
          expect(isKnown, `${kind} ${address} ${id}`).toBe(true)
        }
      }
    }),
    runs,
  )
})

interface Provider {
  readonly kind: string
  readonly base_url?: string
  readonly models: readonly { readonly id: string; readonly upstream_id?: string }[]
}

function readProviders(toml: string): readonly Provider[] {
  return (parse(toml) as { providers?: readonly Provider[] }).providers ?? []
}

test('every setting changes the result or is in the notes', () => {
  fc.assert(
    fc.property(file, (document) => {
      const whole = convert(document)
      if (whole.toml === '') return
      const said = [...whole.left, ...whole.next].join('\n')
      for (const path of listPaths(document)) {
        if (hasNoEffect(path, { said, toml: whole.toml })) continue
        const without = structuredClone(document)
        remove(without, path)
        expect(convert(without), path.join('.')).not.toEqual(whole)
      }
    }),
    runs,
  )
})

type Path = readonly (string | number)[]

/** The paths of all settings. A list is one setting, but for that of the models. */
function listPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [path]
  if (Array.isArray(value) && path[0] !== 'model_list') return value.length > 0 ? [path] : []
  if (Array.isArray(value) && path.length > 1) return [path]
  return Object.entries(value).flatMap(([member, inner]) =>
    listPaths(inner, [...path, Array.isArray(value) ? Number(member) : member]),
  )
}

function remove(document: object, path: Path): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((value, member) => (value as Table)[member], document) as Table
  const last = path.at(-1) as string
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
}

interface Said {
  /** All notes. */
  readonly said: string
  readonly toml: string
}

/** What has no effect in LiteLLM either, and what is part of something that a note names. */
function hasNoEffect(path: Path, { said, toml }: Said): boolean {
  const [first, second, , member] = path
  const dotted = path.join('.')
  // Required, so the document is another one without it.
  if (/model_name$|litellm_params$|litellm_params\.model$|^model_list$/.test(dotted)) return true
  if (first === 'credential_list') return true
  // Defaults that every model replaces, and a strategy without anything to choose from.
  if (/default_(?:max_parallel_requests|fallbacks)$/.test(dotted)) return true
  if (dotted.endsWith('routing_strategy') && !toml.includes('[[routes]]')) return true
  if (/cache_params\.(?:type|supported_call_types)$/.test(dotted)) return true
  if (dotted.includes('cache_params') && said.includes('cache_params: the cache is off'))
    return true
  // One guard is enough.
  if (dotted === 'general_settings.master_key' || dotted.endsWith('LITELLM_MASTER_KEY')) return true
  if (first === 'model_list' && typeof second === 'number') {
    const isLeft = new RegExp(`model_list\\[${second}\\] \\([^)]*\\): `).test(said)
    // Where the name has one deployment, and where all have the same.
    if (isLeft || /^(?:order|weight)$/.test(String(member))) return true
  }
  if (dotted.startsWith('litellm_settings.cache') && said.includes('litellm_settings.cache: '))
    return true
  return /redis|host/.test(dotted) && said.includes('set REDIS_URL')
}
