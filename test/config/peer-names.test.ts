import { describe, expect, test } from 'vitest'
import { loadConfig, renderProblem } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'

const server = 'for a server with an OpenAI-compatible API, use kind "openai" and its base_url'
const perMillion = 'prices are in US dollars per million tokens'

async function problemsOf(text: string): Promise<readonly string[]> {
  const result = await loadConfig({ text, env: {}, kinds })
  return result.ok ? [] : result.problems.map(renderProblem)
}

/** Returns the only problem of a provider of this kind. */
async function kindProblem(kind: string): Promise<string | undefined> {
  const problems = await problemsOf(`[[providers]]\nname = "a"\nkind = "${kind}"`)
  expect(problems).toHaveLength(1)
  return problems[0]?.replace('providers[0].kind (line 3): ', '')
}

describe('another product’s name of a kind leads to the right one', () => {
  test.each([
    ['claude', 'anthropic'],
    ['azure_openai', 'azure'],
    ['AzureOpenAI', 'azure'],
    ['aws', 'bedrock'],
    ['aws_bedrock', 'bedrock'],
    ['amazon-bedrock', 'bedrock'],
    ['vertex', 'vertex_ai'],
    ['google-vertex', 'vertex_ai'],
    ['googleai', 'google'],
    ['hf', 'huggingface'],
    ['voyageai', 'voyage'],
    ['jina_ai', 'jina'],
    ['togetherai', 'together'],
    ['fireworks_ai', 'fireworks'],
    ['pplx', 'perplexity'],
    ['grok', 'xai'],
    ['nim', 'nvidia'],
    ['workers-ai', 'cloudflare'],
    ['hosted_vllm', 'vllm'],
    ['kimi', 'moonshot'],
    ['zhipu', 'zai'],
    ['qwen', 'dashscope'],
    ['doubao', 'volcengine'],
    ['LM Studio', 'lmstudio'],
    ['llama.cpp', 'llamacpp'],
  ])('%s: %s', async (name, kind) => {
    expect(await kindProblem(name)).toBe(`unknown kind "${name}"; did you mean "${kind}"?`)
  })

  test.each(['openai-compatible', 'openai_compatible', 'openai_like', 'litellm', 'localai'])(
    '%s: openai, with an address',
    async (name) => {
      expect(await kindProblem(name)).toBe(
        `unknown kind "${name}": ${server}; did you mean "openai"?`,
      )
    },
  )
})

/** Returns the only problem of a model with this line below its `id`. */
async function modelProblem(line: string): Promise<string | undefined> {
  const problems = await problemsOf(
    `[[providers]]\nname = "a"\nkind = "openai"\n[[providers.models]]\nid = "m"\n${line}`,
  )
  expect(problems).toHaveLength(1)
  return problems[0]?.replace(/^providers\[0\]\.models\[0\]\.\w+ \(line 6\): unknown setting/, '')
}

describe('another product’s name of a model setting leads to the right one', () => {
  test.each(['name', 'model', 'model_name'])(
    '%s means the id when there is no id',
    async (name) => {
      const file = '[[providers]]\nname = "a"\nkind = "openai"\n[[providers.models]]\n'
      expect(await problemsOf(`${file}${name} = "m"`)).toEqual([
        'providers[0].models[0].id (line 4): is required',
        `providers[0].models[0].${name} (line 5): unknown setting; did you mean "id"?`,
      ])
    },
  )

  test.each([
    ['name = "m"', '; did you mean "upstream_id"?'],
    ['deployment = "m"', '; did you mean "upstream_id"?'],
    ['input_price = 1', `: ${perMillion}; did you mean "cost_per_1m_input"?`],
    ['output_price = 1', `: ${perMillion}; did you mean "cost_per_1m_output"?`],
    [
      'input_cost_per_token = 1',
      `: ${perMillion}: multiply by 1000000; did you mean "cost_per_1m_input"?`,
    ],
    [
      'output_cost_per_token = 1',
      `: ${perMillion}: multiply by 1000000; did you mean "cost_per_1m_output"?`,
    ],
    [
      'input_cost_per_1k = 1',
      `: ${perMillion}: multiply by 1000; did you mean "cost_per_1m_input"?`,
    ],
    ['max_tokens = 1', '; did you mean "max_output_tokens"?'],
    ['api_base = "x"', '; did you mean "providers.base_url"?'],
    [
      'api_key = "canary"',
      ': name the environment variable that holds the key, not the key itself; did you mean "providers.api_key_env"?',
    ],
  ])('%s', async (line, hint) => {
    expect(await modelProblem(line)).toBe(hint)
  })
})

describe('another product’s name of a provider setting leads to the right one', () => {
  test.each([
    ['api_base', '; did you mean "base_url"?'],
    ['endpoint', '; did you mean "base_url"?'],
    ['timeout', ': times are in milliseconds; did you mean "total_timeout_ms"?'],
    ['num_retries', '; did you mean "resilience.retry_max_attempts"?'],
  ])('%s', async (name, hint) => {
    const file = `[[providers]]\nname = "a"\nkind = "openai"\n${name} = "canary"`
    expect(await problemsOf(file)).toEqual([
      `providers[0].${name} (line 4): unknown setting${hint}`,
    ])
  })
})

test.each(['api_keys', 'keys', 'tokens'])(
  '%s of a provider leads to api_key_envs',
  async (name) => {
    expect(await problemsOf(`[[providers]]\nname = "a"\nkind = "openai"\n${name} = ["x"]`)).toEqual(
      [
        `providers[0].${name} (line 4): unknown setting: name the environment variables that hold the keys, not the keys themselves; did you mean "api_key_envs"?`,
      ],
    )
  },
)
