import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { CommandFailure } from './command-failure.ts'

/** Where the configuration is looked for when nobody says otherwise: in the working directory. */
export const defaultConfig = 'config.toml'

/** The option of every command that reads the configuration. */
export const configOption = [
  '-c, --config <path>',
  `configuration file (default: ${defaultConfig})`,
] as const

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/** The text of a configuration file. Fails with exit code 2 when it cannot be read. */
export async function readConfigText(path: string | undefined): Promise<string> {
  try {
    return utf8.decode(await readFile(path ?? defaultConfig))
  } catch (error) {
    if (error instanceof TypeError) {
      throw new CommandFailure(2, `${path ?? defaultConfig}: is not valid UTF-8`)
    }
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') {
      throw new CommandFailure(2, `${path ?? defaultConfig}: ${reasons[code ?? ''] ?? code}`)
    }
    throw path === undefined
      ? new CommandFailure(
          2,
          `there is no ${defaultConfig} here; name another file with --config PATH,`,
          'or run `gateway --demo` to see the gateway at work without any configuration',
        )
      : new CommandFailure(2, `${path}: no such file`)
  }
}

/** Why a file that exists cannot be read. */
const reasons: Readonly<Record<string, string>> = {
  EISDIR: 'is a folder; Docker makes one when the file to mount does not exist',
  EACCES: 'this user may not read it',
}

/** The text of the demo configuration, which stands beside `dist`, or at the top of the repository. */
export function readDemoText(): Promise<string> {
  const places = ['../demo.toml', '../../demo.toml'].map((path) => new URL(path, import.meta.url))
  const found = places.find((place) => existsSync(place))
  if (!found) throw new CommandFailure(1, 'the demo configuration is missing from this package')
  return readFile(found, 'utf8')
}
