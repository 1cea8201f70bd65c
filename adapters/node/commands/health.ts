import type { Command } from 'commander'
import { configOption } from '../config/config-text.ts'
import { checkHealth } from './health-check.ts'

/** Adds `health`, which asks the running gateway. */
export function addHealthCommand(root: Command): void {
  root
    .command('health')
    .description('check that the running gateway is healthy')
    .option(...configOption)
    .addHelpText(
      'after',
      '\nExample:\n  gateway health --config gateway.toml || systemctl restart gateway',
    )
    .action(({ config }: { readonly config?: string }) => checkHealth(config, process.env))
}
