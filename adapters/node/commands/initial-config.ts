import type { Environment } from '../../../src/index.ts'
import {
  type FoundVendor,
  findVendors,
  type WellKnownModel,
  wellKnown,
} from '../config/well-known.ts'

/**
 * Writes a configuration with a provider for every well-known key variable that is set; with the demo
 * provider when there is none. It contains no key.
 */
export function writeInitialConfig(env: Environment): string {
  const found = findVendors(env)
  const providers = found.length > 0 ? found.map(writeProvider) : [demo]
  const set = new Set(found.map(({ variable }) => variable))
  const rest = wellKnown.filter(({ variables }) => !variables.some((name) => set.has(name)))
  return `${[head, ...providers, writeRest(rest.map(({ variables: [name] }) => name))].join('\n')}\n`
}

const head = `# The configuration of Model Gateway, written by \`gateway init\`.
# \`gateway --check-config\` checks it. \`gateway prices\` compares the prices of the models with a newer table.

[server]
host = "127.0.0.1"
port = 8080

# Virtual keys with budgets: set GATEWAY_MASTER_KEY to the output of \`openssl rand -hex 32\`, then
# remove the mark below and create a key with \`gateway keys create --name test\`.
[auth]
# enabled = true
unpriced = "refuse_capped" # a key with a budget cannot use a model whose prices are not set
`

const demo = `# Needs no key and no network.
[[providers]]
name = "demo"
kind = "demo"

[[providers.models]]
id = "demo"
`

function writeProvider({ kind, variable, models }: FoundVendor): string {
  return `[[providers]]
name = "${kind}"
kind = "${kind}"
api_key_env = "${variable}"

${models.map(writeModel).join('\n')}`
}

function writeModel({ id, upstreamId, capability, takesImages }: WellKnownModel): string {
  const lines = [
    '[[providers.models]]',
    `id = "${id}"`,
    ...(upstreamId === undefined ? [] : [`upstream_id = "${upstreamId}"`]),
    ...(capability === undefined ? [] : [`capabilities = ["${capability}"]`]),
    ...(takesImages ? ['modalities = ["text", "image"]'] : []),
  ]
  return `${lines.join('\n')}\n`
}

function writeRest(variables: readonly string[]): string {
  if (variables.length === 0) return '# All key variables that `gateway init` knows are set.'
  const names = variables.map((name) => `#   ${name}`).join('\n')
  return `# With these variables set, \`gateway init\` writes a provider for each of them:\n${names}`
}
