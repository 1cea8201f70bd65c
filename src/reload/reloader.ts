import { type AccessControl, reasonOf } from '../access/index.ts'
import {
  type Config,
  ConfigDocument,
  type Judgement,
  keepRestartOnly,
  type LoadedConfig,
  type LoadResult,
  type Reload,
  renderProblem,
} from '../config/index.ts'
import type { ConfigFile } from '../core/config-file.ts'
import { errorFields } from '../core/error-fields.ts'
import type { Log } from '../core/ports.ts'
import {
  type Snapshot,
  SnapshotHolder,
  type SnapshotPorts,
  snapshotWarnings,
} from '../snapshot/index.ts'
import { UnsignedWebhooksError } from '../webhooks/index.ts'

export interface ConfigReloaderOptions {
  /** What serves at the start. */
  readonly loaded: LoadedConfig
  /** The text that it was read from. */
  readonly text: string
  /** Judges a text as a boot would. */
  readonly load: (text: string) => Promise<LoadResult>
  readonly file: ConfigFile
  readonly storedKeys: ReadonlyMap<string, string>
  readonly ports: SnapshotPorts
  readonly access: Pick<AccessControl, 'providerKeys' | 'check' | 'adopt'>
  readonly log: Log
  /** A new configuration serves. */
  readonly applied: (snapshot: Snapshot) => void
  /** A reload was refused or has failed: what served before still does. */
  readonly failed: () => void
}

/** The configuration that serves, and the ways in which another one takes its place. */
export class ConfigReloader {
  readonly document: ConfigDocument
  readonly #options: ConfigReloaderOptions
  readonly #holder: SnapshotHolder

  constructor(options: ConfigReloaderOptions) {
    const { loaded, text, file, storedKeys, ports } = options
    const { config, authorities } = loaded
    this.#options = options
    this.#holder = new SnapshotHolder({ config, storedKeys, authorities }, ports)
    this.document = new ConfigDocument({
      file,
      serving: text,
      judge: (candidate) => this.#judge(candidate),
    })
  }

  get config(): Config {
    return this.#holder.config
  }

  get snapshot(): Snapshot {
    return this.#holder.snapshot
  }

  /** Serves what the file says now. Never rejects: what is refused goes to the log. */
  reload(): Promise<void> {
    return this.#settled(this.document.reload())
  }

  /** Like `reload`, but only when the file is another one than before. */
  refresh(): Promise<void> {
    return this.#settled(this.document.refresh())
  }

  /**
   * Serves what the file says now with the keys that are stored now; should the file be refused,
   * then what served before with these keys. Rejects when the keys cannot be read.
   */
  async takeKeys(): Promise<void> {
    const outcome = await this.#heard(this.document.reload())
    if (outcome.state === 'refused') await this.#heard(this.document.rebuild())
  }

  /** Judges a text as a boot would, and builds everything that it asks for. */
  async #judge(text: string): Promise<Judgement> {
    const { load, access, log, applied } = this.#options
    const loaded = await load(text)
    if (!loaded.ok) return loaded
    const { authorities } = loaded
    const { config, ignored } = keepRestartOnly(this.config, loaded.config)
    try {
      access.check(config)
    } catch (error) {
      if (!(error instanceof UnsignedWebhooksError)) throw error
      return { ok: false, problems: [{ setting: error.setting, message: error.message }] }
    }
    const storedKeys = await access.providerKeys()
    const swap = this.#holder.prepare({ config, storedKeys, authorities })
    return {
      ok: true,
      apply: async () => {
        await access.adopt(config)
        swap()
        const warnings = [...loaded.warnings, ...snapshotWarnings(this.snapshot)]
        for (const warning of warnings) log.write('warn', warning)
        if (ignored.length > 0) log.write('warn', 'ignored until a restart', { settings: ignored })
        log.write('info', 'the configuration is in force')
        applied(this.snapshot)
      },
    }
  }

  async #settled(reload: Promise<Reload>): Promise<void> {
    await this.#heard(reload).catch(() => {})
  }

  /** Counts and logs what did not come to pass. */
  async #heard(reload: Promise<Reload>): Promise<Reload> {
    const { log, failed } = this.#options
    try {
      const outcome = await reload
      if (outcome.state !== 'refused') return outcome
      failed()
      for (const problem of outcome.problems) {
        log.write('error', `the configuration is refused: ${renderProblem(problem)}`)
      }
      return outcome
    } catch (error) {
      failed()
      const reason = reasonOf(error)
      const fields = reason === undefined ? errorFields(error) : { reason }
      log.write('error', 'the configuration cannot be reloaded', fields)
      throw error
    }
  }
}
