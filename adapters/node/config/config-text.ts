import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { CommandFailure } from '../failures/command-failure.ts'
import { findVendors } from './well-known.ts'

/** The default path of the configuration file, relative to the working directory. */
export const defaultConfig = 'config.toml'

/** The option of every command that reads the configuration. */
export const configOption = [
  '-c, --config <path>',
  `configuration file (default: ${defaultConfig})`,
] as const

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/** Reads a configuration file. Throws a `CommandFailure` with exit code 2 when it cannot be read. */
export async function readConfigText(path: string | undefined): Promise<string> {
  try {
    return utf8.decode(await readFile(path ?? defaultConfig))
  } catch (error) {
    if (error instanceof TypeError) {
      throw new CommandFailure(2, `${path ?? defaultConfig}: not valid UTF-8`)
    }
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') {
      throw new CommandFailure(
        2,
        `${path ?? defaultConfig}: ${reasons[code ?? ''] ?? `cannot be read (${code})`}`,
      )
    }
    throw path === undefined
      ? new CommandFailure(
          2,
          `${defaultConfig}: no such file in the working directory`,
          suggestStart(),
        )
      : new CommandFailure(2, `${path}: no such file`)
  }
}

/** Says how to start without a file: with the keys that are set, else with the demo. */
function suggestStart(): string {
  const found = findVendors(process.env).map(({ variable }) => variable)
  return found.length === 0
    ? 'pass another path with --config, write a file with `gateway init`, or try `gateway --demo`'
    : `set: ${found.join(', ')}; write a file with \`gateway init\`, or serve at once with \`gateway --auto\``
}

/** Messages for the common reasons why an existing file cannot be read. */
const reasons: Readonly<Record<string, string>> = {
  EISDIR: 'is a directory; Docker creates one when the file to mount does not exist',
  EACCES: 'permission denied',
}

/** Reads the demo configuration: beside `dist` in the package, else at the root of the repository. */
export function readDemoText(): Promise<string> {
  const candidates = ['../demo.toml', '../../../demo.toml'].map(
    (path) => new URL(path, import.meta.url),
  )
  const found = candidates.find((url) => existsSync(url))
  if (!found) throw new CommandFailure(1, 'demo.toml is missing from this installation')
  return readFile(found, 'utf8')
}
