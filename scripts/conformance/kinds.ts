import { compatibleUpstreams } from './upstream/compatible/index.ts'
import { upstreamKey } from './upstream/dialect.ts'
import { scenarioNames } from './upstream/scenario.ts'

/** An API that the gateway has to speak upstream. */
export interface Kind {
  /** The first part of its model ids. */
  readonly name: string
  /** The kind of the provider in the configuration. */
  readonly provider: string
  readonly title: string
  /** The path below the upstream's address. */
  readonly path: string
  /** A model whose name the gateway knows, so that it uses all that the model can do. */
  readonly upstreamModel: string
  readonly takesImages: boolean
  /** The form of its decisions, where it serves nothing else here. */
  readonly decisions?: 'openai' | 'typesafe'
}

/** The APIs that the vendors have defined. */
export const kinds: readonly Kind[] = [
  own({ name: 'openai', title: 'OpenAI chat', path: '/openai/v1', upstreamModel: 'gpt-5' }),
  own({
    name: 'anthropic',
    title: 'Anthropic',
    path: '/anthropic',
    upstreamModel: 'claude-sonnet-4-5',
  }),
  own({ name: 'google', title: 'Gemini', path: '/google', upstreamModel: 'gemini-3-pro' }),
  own({
    name: 'bedrock',
    title: 'Bedrock',
    path: '/bedrock',
    upstreamModel: 'eu.anthropic.claude-sonnet-4-5',
  }),
]

function own(facts: Omit<Kind, 'provider' | 'takesImages'>): Kind {
  return { ...facts, provider: facts.name, takesImages: true }
}

/** Vendors and servers that speak the OpenAI format, each with rules of its own. */
export const compatibleKinds: readonly Kind[] = [
  compatible('deepseek', { title: 'DeepSeek V4', takesImages: false }),
  compatible('moonshot', { title: 'Kimi K2.6' }),
  compatible('zai', { title: 'GLM 5.2', takesImages: false }),
  compatible('minimax', { title: 'MiniMax M3' }),
  compatible('qwen', { title: 'Qwen 3.5 on vLLM', provider: 'vllm' }),
  compatible('mistral', { title: 'Mistral' }),
  compatible('openrouter', { title: 'OpenRouter, Gemini 3', name: 'openrouter-gemini' }),
  compatible('openrouter', {
    title: 'OpenRouter, Claude',
    name: 'openrouter-claude',
    upstreamModel: 'anthropic/claude-opus-4.5',
  }),
  compatible('groq', { title: 'Groq, gpt-oss', takesImages: false }),
  compatible('ollama', { title: 'Ollama' }),
  compatible('llamacpp', { title: 'Qwen 3.5 on llama.cpp' }),
]

/** `upstream` is the name of its rules. */
function compatible(upstream: string, facts: Partial<Kind> & Pick<Kind, 'title'>): Kind {
  const found = compatibleUpstreams.find(({ name }) => name === upstream)
  if (!found) throw new Error(`no upstream ${upstream}`)
  const { name, model } = found
  const path = `/${name}/v1`
  return { name, provider: name, path, upstreamModel: model, takesImages: true, ...facts }
}

/** Vendors of decisions, two in each form. */
export const decisionKinds: readonly Kind[] = [
  decide('openai', { title: 'OpenAI', path: '/openai/v1', decisions: 'openai' }),
  decide('azure', { title: 'Azure', path: '/azure', decisions: 'openai' }),
  decide('typesafe', { title: 'TypeSafe', path: '/typesafe/v1', decisions: 'typesafe' }),
  decide('perplexity', { title: 'Perplexity', path: '/perplexity/v1', decisions: 'typesafe' }),
]

function decide(
  provider: string,
  facts: Required<Pick<Kind, 'title' | 'path' | 'decisions'>>,
): Kind {
  const name = `${provider}-decisions`
  return { name, provider, upstreamModel: 'decider', takesImages: true, ...facts }
}

export const allKinds: readonly Kind[] = [...kinds, ...compatibleKinds, ...decisionKinds]

export function isCompatible({ name }: Kind): boolean {
  return compatibleKinds.some((kind) => kind.name === name)
}

/** Environment of the gateway: the credential of all providers. */
export const upstreamEnvironment = { UPSTREAM_KEY: upstreamKey }

/** Codex knows models by the beginning of their ids, and sends other requests for them. */
export const codexModels = ['gpt-5.5', 'gpt-6-sol'] as const

const embedScenario = 'embed'

/** The kinds whose upstreams embed. */
const embedKinds: ReadonlySet<string> = new Set(['openai', 'google'])

export function canEmbed({ name }: Kind): boolean {
  return embedKinds.has(name)
}

function toEmbedModel(name: string): string {
  return `
[[providers.models]]
id = "${name}--${embedScenario}"
upstream_id = "embedding--${embedScenario}"
capabilities = ["embed"]
cost_per_1m_input = 1
`
}

function toDecider({ name, provider, path, upstreamModel }: Kind, upstream: string): string {
  const models = ['say', 'refuse', 'rate-limited'].map(
    (scenario) => `
[[providers.models]]
id = "${name}--decide--${scenario}"
upstream_id = "${upstreamModel}--${scenario}"
capabilities = ["decisions"]
modalities = ["text", "image"]
cost_per_1m_input = 1
`,
  )
  return `
[[providers]]
name = "${name}"
kind = "${provider}"
base_url = "${upstream}${path}"
api_key_env = "UPSTREAM_KEY"
${models.join('')}`
}

/** The gateway's configuration: a provider for each kind, a model for each scenario. */
export function toConfig(upstream: string, databasePath: string): string {
  const providers = allKinds.map((kind) => {
    if (kind.decisions) return toDecider(kind, upstream)
    const { name, provider, path, upstreamModel, takesImages } = kind
    const ids = [
      ...scenarioNames
        .filter((scenario) => scenario !== embedScenario)
        .map((scenario) => [`${name}--${scenario}`, scenario]),
      ...codexModels.flatMap((model) =>
        ['task', 'picture'].map((scenario) => [`${model}-${name}--${scenario}`, scenario]),
      ),
    ]
    const models = ids.map(
      ([id, scenario]) => `
[[providers.models]]
id = "${id}"
upstream_id = "${upstreamModel}--${scenario}"
modalities = ${takesImages ? '["text", "image"]' : '["text"]'}
reasoning = true
cost_per_1m_input = 3
cost_per_1m_output = 15
`,
    )
    return `
[[providers]]
name = "${name}"
kind = "${provider}"
base_url = "${upstream}${path}"
api_key_env = "UPSTREAM_KEY"
${models.join('')}${embedKinds.has(name) ? toEmbedModel(name) : ''}`
  })
  return `
[auth]
enabled = true
db_path = ${JSON.stringify(databasePath)}

[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000000
${providers.join('')}`
}
