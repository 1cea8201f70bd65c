import { statSync } from 'node:fs'
import type { Command } from 'commander'
import type { StoreSettings } from '../../../src/store/index.ts'
import { readStoreSettings } from '../admin/store.ts'
import { configOption } from '../config/config-text.ts'
import { toDatabaseFailure } from '../failures/database-failure.ts'
import { withProgress } from '../output/progress.ts'
import { copyNodeDatabase } from '../ports/store.ts'
import { print } from '../process/print.ts'

/** Adds `backup`, which copies the database, also while a gateway uses it. */
export function addBackupCommand(root: Command): void {
  root
    .command('backup <file>')
    .description('copy the database to a new file, also while the gateway runs')
    .option(...configOption)
    .addHelpText('after', '\nExample:\n  gateway backup "gateway-$(date +%F).db"')
    .action(async (file: string, _: unknown, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>()
      await backUp(await readStoreSettings(config), file)
    })
}

async function backUp(settings: StoreSettings, file: string): Promise<void> {
  try {
    const { source, target } = await withProgress(
      'copying the database',
      copyNodeDatabase(settings, file),
    )
    await print(`copied ${source} to ${target}: ${statSync(target).size} bytes`)
  } catch (error) {
    throw toDatabaseFailure(error)
  }
}
