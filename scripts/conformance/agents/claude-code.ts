import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../client.ts'
import { findExecutable } from './executable.ts'
import { runTasks } from './tasks.ts'
import { toolServer, toolServerName } from './tools.ts'

/** Claude Code without its own requests to the vendor: https://code.claude.com/docs/en/env-vars */
export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  api: 'Messages',
  carriesProofs: true,
  run: (kind, { address, key }) =>
    runTasks(kind, ({ scenario, prompt, home }) => {
      const model = `${kind.name}--${scenario}`
      const settings = join(home, 'tools.json')
      writeFileSync(settings, JSON.stringify({ mcpServers: { [toolServerName]: toolServer } }))
      const tools = [
        '--mcp-config',
        settings,
        '--allowedTools',
        'Write',
        'Bash',
        'Read',
        `mcp__${toolServerName}`,
      ]
      return {
        line: [findExecutable('claude'), '-p', prompt, '--model', model, ...tools],
        env: {
          CLAUDE_CONFIG_DIR: `${home}/.claude`,
          ANTHROPIC_BASE_URL: address,
          ANTHROPIC_API_KEY: key,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
          // The tools of a server are in every request.
          ENABLE_TOOL_SEARCH: 'false',
        },
      }
    }),
}
