import { upstreamKey } from './upstream/dialect.ts'
import { scenarioNames } from './upstream/scenario.ts'

/** An API that the gateway has to speak upstream. */
export interface Kind {
  /** The kind of the provider, and the first part of its model ids. */
  readonly name: 'openai' | 'anthropic' | 'google' | 'bedrock'
  readonly title: string
  /** The path below the upstream's address. */
  readonly path: string
  /** A model whose name the gateway knows, so that it uses all that the model can do. */
  readonly upstreamModel: string
}

export const kinds: readonly Kind[] = [
  { name: 'openai', title: 'OpenAI chat', path: '/openai/v1', upstreamModel: 'gpt-5' },
  { name: 'anthropic', title: 'Anthropic', path: '/anthropic', upstreamModel: 'claude-sonnet-4-5' },
  { name: 'google', title: 'Gemini', path: '/google', upstreamModel: 'gemini-3-pro' },
  {
    name: 'bedrock',
    title: 'Bedrock',
    path: '/bedrock',
    upstreamModel: 'eu.anthropic.claude-sonnet-4-5',
  },
]

/** Environment of the gateway: the credential of all providers. */
export const upstreamEnvironment = { UPSTREAM_KEY: upstreamKey }

/** Codex knows models by the beginning of their ids, and sends other requests for them. */
export const codexModels = ['gpt-5.5', 'gpt-6-sol'] as const

/** The gateway's configuration: a provider for each kind, a model for each scenario. */
export function toConfig(upstream: string, databasePath: string): string {
  const providers = kinds.map(({ name, path, upstreamModel }) => {
    const ids = [
      ...scenarioNames.map((scenario) => [`${name}--${scenario}`, scenario]),
      ...codexModels.flatMap((model) =>
        ['task', 'picture'].map((scenario) => [`${model}-${name}--${scenario}`, scenario]),
      ),
    ]
    const models = ids.map(
      ([id, scenario]) => `
[[providers.models]]
id = "${id}"
upstream_id = "${upstreamModel}--${scenario}"
modalities = ["text", "image"]
reasoning = true
cost_per_1m_input = 3
cost_per_1m_output = 15
`,
    )
    return `
[[providers]]
name = "${name}"
kind = "${name}"
base_url = "${upstream}${path}"
api_key_env = "UPSTREAM_KEY"
${models.join('')}`
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
