import { type Config, type LoadResult, loadConfig } from '../../src/config/index.ts'
import type { ConfigFile } from '../../src/core/config-file.ts'
import { soleWorker } from '../../src/core/workers.ts'
import { ConfigReloader } from '../../src/reload/index.ts'
import { ManualClock } from './manual-clock.ts'

export interface TestReloaderOptions {
  readonly file: ConfigFile
  /** The text of the start. */
  readonly text: string
  /** Says whether a text is valid; every text is by default. */
  readonly validate?: (text: string) => Promise<TextValidation>
  /** Called with the text of a configuration that takes over; it fails when this throws. */
  readonly adopt?: (text: string) => void
  readonly log?: (line: string) => void
}

export type TextValidation = { readonly ok: true } | Extract<LoadResult, { ok: false }>

/** A reloader for which any text is a configuration: `server.cors_origins` carries it along. */
export async function testReloader(options: TestReloaderOptions): Promise<ConfigReloader> {
  const { file, text, validate = async () => ({ ok: true }), adopt, log } = options
  const empty = await loadConfig({ text: '', env: {}, kinds: [] })
  if (!empty.ok) throw new Error('an empty file is a valid configuration')
  const loaded = (content: string) => {
    const { server } = empty.config
    const config: Config = { ...empty.config, server: { ...server, cors_origins: [content] } }
    return { ...empty, config, warnings: [] }
  }
  return new ConfigReloader({
    start: { text, loaded: loaded(text), storedKeys: new Map() },
    async load(content) {
      const validation = await validate(content)
      return validation.ok ? loaded(content) : validation
    },
    file,
    ports: {
      env: {},
      clock: new ManualClock(),
      upstream: () => Promise.reject(new Error('no upstream is called')),
    },
    access: {
      check: () => undefined,
      providerKeys: async () => new Map(),
      adopt: async ({ server }) => adopt?.(server.cors_origins[0] ?? ''),
    },
    log: { enabled: () => true, write: (level, message) => log?.(`${level} ${message}`) },
    workers: soleWorker(),
    events: { configApplied() {}, reloadFailed() {} },
  })
}
