import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { runCommand, setVariables } from './support/cli.ts'

interface Converted {
  readonly code: number
  readonly stdout: string
  readonly notes: readonly string[]
}

/** Converts a file of `test/fixtures/litellm`. */
async function convert(name: string): Promise<Converted> {
  setVariables({ OPENAI_BASE_URL: undefined, OPENAI_API_BASE: undefined })
  const path = `test/fixtures/litellm/${name}.yaml`
  const { code, stdout, stderr } = await runCommand('import', 'litellm', path)
  expect(stdout + stderr).not.toMatch(/in-the-file/)
  return { code, stdout, notes: stderr.trimEnd().split('\n') }
}

describe('a file of a team', () => {
  test('is taken whole, with auth on', async () => {
    const { code, stdout } = await convert('team')
    expect(code).toBe(0)
    expect(stdout).toBe(readFileSync('test/fixtures/litellm/team.toml', 'utf8'))
  })

  test('what has no equal is listed, and what is left to do', async () => {
    const { notes } = await convert('team')
    expect(notes).toEqual([
      'not converted:',
      'model_list[0] (gpt-4o).litellm_params.stream_timeout: whole answers and the first content of streams have one limit; 300 s, the longer one, is written',
      'model_list[0] (gpt-4o).litellm_params.rpm: no limit of a deployment; a 429 of the vendor moves on to the next one',
      'model_list[0] (gpt-4o).model_info.base_model',
      'model_list[1] (gpt-4o).litellm_params.rpm: no limit of a deployment; a 429 of the vendor moves on to the next one',
      'litellm_settings.success_callback',
      'general_settings.database_url',
      'general_settings.alerting',
      'litellm_settings.request_timeout: timeout of router_settings counts',
      'router_settings.model_group_alias.sonnet.hidden: lists of models show it',
      'next:',
      'set REDIS_URL to the address of the Redis server with its password, such as redis://:PASSWORD@HOST:6379',
      '[shared] makes all gateways share their state on Redis 7 or Valkey 7.2, or later, and needs one database (auth.db_path) for all of them; remove it for a single gateway',
      'auth is on, as in the proxy: set GATEWAY_MASTER_KEY (64 hex digits, as `openssl rand -hex 32` prints them), and create keys with `gateway keys create`',
      '5 models have no prices: `gateway prices --only-missing --write` fills them in',
      'fallbacks of gpt-4o-mini: claude-1, claude-2 also when a call fails, since a model has one list',
    ])
  })
})

test('a file of patterns keeps them, with the prices of the table, and its private addresses', async () => {
  const { code, stdout, notes } = await convert('wildcards')
  expect(code).toBe(0)
  const { auth, shared, providers } = parse(stdout) as Record<string, unknown>
  expect({ auth, shared }).toEqual({ auth: { enabled: true }, shared: { url_env: 'REDIS_URL' } })
  expect(providers).toEqual([
    {
      name: 'openai',
      kind: 'openai',
      api_key_env: 'OPENAI_API_KEY',
      models: [{ id: 'openai/*', prices: 'table', fallbacks: ['llama'] }],
    },
    {
      name: 'anthropic',
      kind: 'anthropic',
      api_key_env: 'ANTHROPIC_API_KEY',
      models: [{ id: 'anthropic/claude-*', upstream_id: 'claude-*', prices: 'table' }],
    },
    {
      name: 'groq',
      kind: 'groq',
      api_key_env: 'GROQ_API_KEY',
      models: [{ id: 'groq/*', prices: 'table' }],
    },
    {
      name: 'vllm',
      kind: 'vllm',
      api_key_env: 'GPU_KEY',
      base_url: 'http://10.1.0.5:8000/v1',
      first_token_timeout_ms: 900_000,
      total_timeout_ms: 900_000,
      models: [
        {
          id: 'llama',
          upstream_id: 'meta-llama/Llama-3.3-70B-Instruct',
          fallbacks: ['openai/gpt-4o-mini'],
        },
      ],
    },
    {
      name: 'openai-2',
      kind: 'openai',
      base_url: 'http://10.1.0.6:8000/v1',
      models: [{ id: 'qwen', upstream_id: 'qwen3' }],
    },
    {
      name: 'vertex_ai',
      kind: 'vertex_ai',
      credentials: 'google',
      base_url:
        'https://europe-west4-aiplatform.googleapis.com/v1/projects/acme-prod/locations/europe-west4',
      models: [{ id: 'gemini', upstream_id: 'gemini-2.5-pro' }],
    },
    {
      name: 'cohere',
      kind: 'cohere',
      api_key_env: 'COHERE_API_KEY',
      models: [{ id: 'rerank', upstream_id: 'rerank-v3.5', capabilities: ['rerank'] }],
    },
  ])
  expect(notes).toContain(
    'set these yourself, the file of the gateway sets no variables: LITELLM_MASTER_KEY, GROQ_API_KEY',
  )
})

test('a file of a laptop stays without auth', async () => {
  const { code, stdout, notes } = await convert('laptop')
  expect(code).toBe(0)
  expect(parse(stdout)).toEqual({
    cache: { enabled: true },
    providers: [
      {
        name: 'openai',
        kind: 'openai',
        api_key_env: 'OPENAI_API_KEY',
        models: [{ id: '*', prices: 'table', cache: true }],
      },
      {
        name: 'ollama',
        kind: 'ollama',
        base_url: 'http://localhost:11434',
        first_token_timeout_ms: 60_000,
        models: [{ id: 'local', upstream_id: 'qwen3:8b', cache: true }],
      },
    ],
  })
  expect(notes).toEqual([
    'not converted:',
    'litellm_settings.set_verbose',
    'next:',
    'model_list[1] (local).litellm_params.stream_timeout: holds for whole answers too',
  ])
})
