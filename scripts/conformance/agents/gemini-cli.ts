import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { findExecutable } from './executable.ts'
import { runTasks } from './tasks.ts'
import { toolServer, toolServerName } from './tools.ts'

/** Gemini CLI with an API key: https://geminicli.com/docs/reference/configuration */
export const geminiCli: Client = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  api: 'Gemini',
  carriesProofs: true,
  run: (kind, { address, key }) =>
    runTasks(kind, ({ scenario, prompt, home }) => {
      mkdirSync(join(home, '.gemini'))
      writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings))
      return {
        line: [
          findExecutable('gemini'),
          '--model',
          `${kind.name}--${scenario}`,
          '--approval-mode',
          'yolo',
          '--skip-trust',
          '--prompt',
          prompt,
        ],
        env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: address, NO_COLOR: '1' },
      }
    }),
}

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  mcpServers: { [toolServerName]: toolServer },
}
