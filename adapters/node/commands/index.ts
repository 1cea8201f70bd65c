import type { Command } from 'commander'

/** A command other than `serve`. */
interface Entry {
  /** As the help of `gateway` shows it. */
  readonly term: string
  readonly description: string
  /** Loads the command. Resolves to the function that adds it to the root command. */
  readonly load: () => Promise<(root: Command) => void>
}

/**
 * Every command but `serve`, in the order of the help. Loading all of them takes longer than most of them run, so
 * this table has what the help of `gateway` says.
 */
const entries: readonly Entry[] = [
  {
    term: 'init [options]',
    description: 'write a configuration with a provider for every well-known key that is set',
    load: async () => (await import('./init.ts')).addInitCommand,
  },
  {
    term: 'config [options]',
    description: 'show the settings of the file and the environment, with credentials masked',
    load: async () => (await import('./config.ts')).addConfigCommand,
  },
  {
    term: 'schema',
    description: 'print the JSON Schema of the configuration file, for editors',
    load: async () => (await import('./schema.ts')).addSchemaCommand,
  },
  {
    term: 'health [options]',
    description: 'check that the running gateway is healthy',
    load: async () => (await import('./health.ts')).addHealthCommand,
  },
  {
    term: 'check [options] [provider]',
    description: 'send a small request to a provider, once with each credential',
    load: async () => (await import('./check-provider.ts')).addCheckCommand,
  },
  {
    term: 'keys',
    description: 'create, list and change virtual keys',
    load: async () => (await import('./keys.ts')).addKeysCommand,
  },
  {
    term: 'groups',
    description: 'create, list and change groups, whose keys share a budget',
    load: async () => (await import('./groups.ts')).addGroupsCommand,
  },
  {
    term: 'usage [options]',
    description: 'show what was used, with the course of its cost',
    load: async () => (await import('./usage.ts')).addUsageCommand,
  },
  {
    term: 'requests [options]',
    description: 'find requests, and say why they were refused or failed',
    load: async () => (await import('./requests.ts')).addRequestsCommand,
  },
  {
    term: 'prices [options]',
    description: 'compare the prices of the models with a table, and write them into the file',
    load: async () => (await import('./prices.ts')).addPricesCommand,
  },
  {
    term: 'import',
    description: 'convert the configuration of another gateway',
    load: async () => (await import('./import.ts')).addImportCommand,
  },
  {
    term: 'backup [options] <file>',
    description: 'copy the database to a new file, also while the gateway runs',
    load: async () => (await import('./backup.ts')).addBackupCommand,
  },
  {
    term: 'master-key',
    description: 'change the master key of the database',
    load: async () => (await import('./master-key.ts')).addMasterKeyCommand,
  },
  {
    term: 'console [options]',
    description: 'serve a local page that shows the running gateway and manages its keys',
    load: async () => (await import('./console.ts')).addConsoleCommand,
  },
  {
    term: 'explain [options] <request>',
    description: 'say how a request would be handled, without sending it',
    load: async () => (await import('./explain.ts')).addExplainCommand,
  },
  {
    term: 'completion <shell>',
    description: 'print a script that completes commands and options in a shell',
    load: async () => (await import('./completion.ts')).addCompletionCommand,
  },
]

/**
 * Adds every command but `serve`: those of these names to be run, the others for the help alone. Without names all
 * of them can be run.
 */
export async function addOtherCommands(root: Command, names?: readonly string[]): Promise<void> {
  const adders = await Promise.all(
    entries.map(({ term, description, load }) => {
      const [name = ''] = term.split(' ')
      if (names === undefined || names.includes(name)) return load()
      return (parent: Command) => void parent.command(term).description(description)
    }),
  )
  for (const add of adders) add(root)
}
