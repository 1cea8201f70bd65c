import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import type { Kind } from '../kinds.ts'
import { findExecutable } from './executable.ts'
import { runTasks } from './tasks.ts'

/**
 * opencode as it is set up for any gateway, with the package that speaks the API of the door:
 * https://opencode.ai/docs/providers. Its chat requests pass as they are, so it gets no tool with a name over the limit
 * of the vendors.
 */
export const opencodes: readonly Client[] = [
  opencode({
    name: 'opencode',
    title: 'opencode',
    api: 'Chat',
    carriesProofs: false,
    findPackage: ({ name }) => ownPackages.get(name) ?? '@ai-sdk/openai-compatible',
  }),
  opencode({
    name: 'opencode-messages',
    title: 'opencode, `@ai-sdk/anthropic`',
    api: 'Messages',
    carriesProofs: true,
    findPackage: () => '@ai-sdk/anthropic',
  }),
]

/** Vendors whose chat API has members that the package for all others does not know. */
const ownPackages: ReadonlyMap<string, string> = new Map([
  ['groq', '@ai-sdk/groq'],
  ['mistral', '@ai-sdk/mistral'],
  ['openrouter-gemini', '@openrouter/ai-sdk-provider'],
  ['openrouter-claude', '@openrouter/ai-sdk-provider'],
])

interface Opencode extends Omit<Client, 'package' | 'run'> {
  /** Returns the package with which opencode calls the gateway. */
  findPackage(kind: Kind): string
}

function opencode({ findPackage, ...facts }: Opencode): Client {
  return {
    ...facts,
    package: 'opencode-ai',
    run: (kind, { address, key }) =>
      runTasks(kind, ({ scenario, prompt, home }) => {
        const model = `${kind.name}--${scenario}`
        const config = join(home, 'opencode.json')
        writeFileSync(config, JSON.stringify(toConfig({ model, address, npm: findPackage(kind) })))
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
}

interface Settings {
  readonly model: string
  readonly address: string
  readonly npm: string
}

function toConfig({ model, address, npm }: Settings): object {
  return {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      gateway: {
        npm,
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
