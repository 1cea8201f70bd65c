import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { codexModels } from '../kinds.ts'
import { findExecutable } from './executable.ts'
import { runTasks } from './tasks.ts'
import { toolServer, toolServerName } from './tools.ts'

/**
 * Codex with a provider of its own: https://developers.openai.com/codex/config-reference
 * For a model that it does not know it offers functions and a namespace; for gpt-5.5 also a custom
 * tool; for gpt-6 only a namespace of custom tools, inside of the input.
 */
export const codexes: readonly Client[] = [
  codex({ name: 'codex', title: 'Codex', prefix: '' }),
  codexAsOpenAi(),
  ...codexModels.map((model) =>
    codex({ name: `codex-${model}`, title: `Codex, model id \`${model}-…\``, prefix: `${model}-` }),
  ),
]

interface CodexModel {
  readonly name: string
  readonly title: string
  /** The beginning of the model's id. */
  readonly prefix: string
}

function codex({ name, title, prefix }: CodexModel): Client {
  return {
    name,
    title,
    package: '@openai/codex',
    api: 'Responses',
    carriesProofs: true,
    run: (kind, { address, key }) =>
      runTasks(kind, ({ scenario, prompt, home }) => {
        const config = toConfig(`${prefix}${kind.name}--${scenario}`, address)
        writeFileSync(join(home, 'config.toml'), config)
        const freely = '--dangerously-bypass-approvals-and-sandbox'
        return {
          line: [findExecutable('codex'), 'exec', '--skip-git-repo-check', freely, prompt],
          env: { CODEX_HOME: home, GATEWAY_KEY: key },
        }
      }),
  }
}

/**
 * Codex as it is, with nothing but the address changed: `openai_base_url`. It asks for a WebSocket first, and must
 * go on over HTTP without a pause.
 */
function codexAsOpenAi(): Client {
  return {
    name: 'codex-base-url',
    title: 'Codex, `openai_base_url` alone',
    package: '@openai/codex',
    api: 'Responses',
    carriesProofs: true,
    firstRequestWithin: 8_000,
    run: (kind, { address, key }) =>
      runTasks(kind, ({ scenario, prompt, home }) => {
        const config = `
model = "${kind.name}--${scenario}"
openai_base_url = "${address}/v1"
${toolSection}`
        writeFileSync(join(home, 'config.toml'), config)
        const freely = '--dangerously-bypass-approvals-and-sandbox'
        return {
          line: [findExecutable('codex'), 'exec', '--skip-git-repo-check', freely, prompt],
          env: { CODEX_HOME: home, CODEX_API_KEY: key },
        }
      }),
  }
}

const toolSection = `
[mcp_servers.${toolServerName}]
command = ${JSON.stringify(toolServer.command)}
args = ${JSON.stringify(toolServer.args)}
`

function toConfig(model: string, address: string): string {
  return `
model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${address}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
${toolSection}`
}
