import type { Command } from 'commander'
import { openNodeStore } from '../ports/store.ts'
import { addBackupCommand } from './backup.ts'
import { addCheckCommand } from './check-provider.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommand } from './config.ts'
import { addConsoleCommand } from './console.ts'
import { addExplainCommand } from './explain.ts'
import { addGroupsCommand } from './groups.ts'
import { addHealthCommand } from './health.ts'
import { addImportCommand } from './import.ts'
import { addInitCommand } from './init.ts'
import { addKeysCommand } from './keys.ts'
import { addMasterKeyCommand } from './master-key.ts'
import { addPricesCommand } from './prices.ts'
import { addRequestsCommand } from './requests.ts'
import { addSchemaCommand } from './schema.ts'
import { addUsageCommand } from './usage.ts'

/** Adds every command but `serve`, in the order of the help. */
export function addOtherCommands(root: Command): void {
  addInitCommand(root)
  addConfigCommand(root)
  addSchemaCommand(root)
  addHealthCommand(root)
  addCheckCommand(root)
  addKeysCommand(root)
  addGroupsCommand(root)
  addUsageCommand(root)
  addRequestsCommand(root)
  addPricesCommand(root)
  addImportCommand(root)
  addBackupCommand(root)
  addMasterKeyCommand(root, openNodeStore)
  addConsoleCommand(root)
  addExplainCommand(root)
  addCompletionCommand(root)
}
