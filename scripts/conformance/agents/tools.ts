import { fileURLToPath } from 'node:url'
import { clockTool } from '../upstream/task.ts'

/** The name of the server of tools in the settings of an agent. */
export const toolServerName = 'plugin_registry_records'

/** Starts the server of tools. */
export const toolServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL('tool-server.mjs', import.meta.url)), clockTool],
}
