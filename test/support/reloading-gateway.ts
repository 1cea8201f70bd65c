import type { ConfigFile, StagedFile } from '../../src/core/config-file.ts'
import {
  type KeyedGateway,
  type KeyedOptions,
  keyedGateway,
  pricedProvider,
} from './keyed-gateway.ts'

/** A configuration file in memory that a test edits. */
export class MemoryFile implements ConfigFile {
  readonly name = 'gateway.toml'
  bytes: Uint8Array
  /** The backup of the previous file. */
  backup: Uint8Array | undefined
  /** The file exists but cannot be read. */
  isReadable = true
  isWritable = true

  constructor(text: string) {
    this.bytes = new TextEncoder().encode(text)
  }

  get text(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.bytes)
  }

  write(text: string): void {
    this.bytes = new TextEncoder().encode(text)
  }

  async read(): Promise<Uint8Array> {
    await aWhile()
    if (!this.isReadable) throw systemError('EIO')
    return this.bytes
  }

  async stage(bytes: Uint8Array): Promise<StagedFile> {
    if (!this.isWritable) throw systemError('EROFS')
    return {
      commit: async () => {
        await aWhile()
        this.backup = this.bytes
        this.bytes = bytes
      },
      discard: async () => {},
    }
  }
}

/** Simulates a slow disk, so that other work runs in between. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** An error in the system's wording, with the path of a staged file. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: open '/etc/.config.toml.0a1b.staged'`), { code })
}

export interface ReloadingGateway extends KeyedGateway {
  readonly file: MemoryFile
  /** Writes a configuration with auth enabled to the file and reloads. */
  change(config: string, auth?: string): Promise<void>
  /** Returns the new log lines since the last call, except request lines. */
  takeLogLines(): readonly string[]
  /** Returns the value of a series without labels; undefined when it is absent. */
  count(name: string): Promise<number | undefined>
}

/** A keyed gateway with a configuration file that can be changed. */
export async function reloadingGateway(
  config: string = pricedProvider,
  options: KeyedOptions = {},
): Promise<ReloadingGateway> {
  const file = new MemoryFile(withAuth(config, options.auth))
  const test = await keyedGateway(config, { configFile: file, ...options })
  let heard = test.log.length
  return {
    ...test,
    file,
    async change(next, auth) {
      file.write(withAuth(next, auth))
      await test.gateway.reload()
    },
    takeLogLines() {
      const lines = test.log.slice(heard).filter(({ message }) => message !== 'request')
      heard = test.log.length
      return lines.map(({ level, message, fields }) =>
        [level, message, ...Object.values(fields).flat()].join(' '),
      )
    },
    async count(name) {
      const text = await (await test.get('/metrics')).text()
      const value = new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]
      return value === undefined ? undefined : Number(value)
    },
  }
}

/** Returns the full text of a configuration with auth enabled. */
export function withAuth(config: string, auth = ''): string {
  return `${config}\n[auth]\nenabled = true\n${auth}`
}
