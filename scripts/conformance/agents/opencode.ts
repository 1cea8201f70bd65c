import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { findExecutable } from './executable.ts'
import { runTasks } from './tasks.ts'

/**
 * opencode with a provider of the type "OpenAI-compatible", as it is set up for any gateway:
 * https://opencode.ai/docs/providers. Its chat requests pass as they are, so it gets no tool with a name over the limit
 * of the vendors.
 */
export const opencode: Client = {
  name: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  api: 'Chat',
  carriesProofs: false,
  run: (kind, { address, key }) =>
    runTasks(kind, ({ scenario, prompt, home }) => {
      const model = `${kind.name}--${scenario}`
      const config = join(home, 'opencode.json')
      writeFileSync(config, JSON.stringify(toConfig(model, address)))
      return {
        line: [findExecutable('opencode'), 'run', '--model', `gateway/${model}`, prompt],
        env: {
          XDG_CONFIG_HOME: join(home, 'config'),
          XDG_DATA_HOME: join(home, 'data'),
          XDG_CACHE_HOME: join(home, 'cache'),
          XDG_STATE_HOME: join(home, 'state'),
          OPENCODE_CONFIG: config,
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
          OPENCODE_DISABLE_MODELS_FETCH: '1',
          GATEWAY_KEY: key,
        },
      }
    }),
}

function toConfig(model: string, address: string): object {
  return {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      gateway: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Gateway',
        options: { baseURL: `${address}/v1`, apiKey: '{env:GATEWAY_KEY}' },
        models: {
          [model]: {
            name: model,
            attachment: true,
            modalities: { input: ['text', 'image'], output: ['text'] },
          },
        },
      },
    },
    model: `gateway/${model}`,
    small_model: `gateway/${model}`,
    permission: 'allow',
    share: 'disabled',
  }
}
