import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { findExecutable } from './executable.ts'
import { runTask } from './task-run.ts'

/** Codex with a provider of its own: https://developers.openai.com/codex/config-reference */
export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  package: '@openai/codex',
  api: 'Responses',
  carriesProofs: true,
  run: ({ name }, { address, key }) =>
    runTask((prompt, { home }) => {
      writeFileSync(join(home, 'config.toml'), toConfig(`${name}--task`, address))
      const freely = '--dangerously-bypass-approvals-and-sandbox'
      return {
        line: [findExecutable('codex'), 'exec', '--skip-git-repo-check', freely, prompt],
        env: { CODEX_HOME: home, GATEWAY_KEY: key },
      }
    }),
}

function toConfig(model: string, address: string): string {
  return `
model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${address}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
`
}
