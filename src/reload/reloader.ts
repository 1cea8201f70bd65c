import { type AccessControl, storageProblem } from '../access/index.ts'
import {
  type Config,
  type LoadedConfig,
  type LoadResult,
  type Problem,
  renderFileProblem,
  type TracedSetting,
  traceSettings,
} from '../config/index.ts'
import type { ConfigFile } from '../core/config-file.ts'
import { errorFields } from '../core/error-fields.ts'
import type { GatewayEvents } from '../core/gateway-events.ts'
import type { Log } from '../core/ports.ts'
import type { Topic, Workers } from '../core/workers.ts'
import {
  buildSnapshot,
  listSnapshotWarnings,
  type Snapshot,
  type SnapshotPorts,
} from '../snapshot/index.ts'
import { blake3Hex } from '../wire/digest.ts'
import {
  type ConfigText,
  checkHash,
  type FileContent,
  parseReplacement,
  readConfigText,
  readContent,
  rejectConfig,
} from './config-file.ts'
import { keepRestartOnly } from './restart-only.ts'

export interface ConfigReloaderOptions {
  readonly start: StartConfig
  /** Validates a text as a start does. */
  readonly load: (text: string) => Promise<LoadResult>
  readonly file: ConfigFile
  readonly ports: SnapshotPorts
  readonly access: Pick<AccessControl, 'check' | 'providerKeys' | 'adopt'>
  readonly log: Log
  readonly events: Pick<GatewayEvents, 'configApplied' | 'reloadFailed'>
  readonly workers: Workers
}

/** The configuration of the start. */
export interface StartConfig {
  /** The text that it was loaded from. */
  readonly text: string
  readonly loaded: LoadedConfig
  /** The stored keys of providers, by the provider's name. */
  readonly storedKeys: ReadonlyMap<string, string>
}

/** A configuration in force: its text, its settings, and the snapshot that was built from them. */
interface RunningConfig {
  readonly text: string
  readonly config: Config
  /** Where its settings come from. */
  readonly sources: Pick<LoadedConfig, 'set' | 'origins'>
  /** The stored keys of providers that the snapshot contains. */
  readonly storedKeys: ReadonlyMap<string, string>
  readonly snapshot: Snapshot
}

/** A configuration that is ready to take over. */
interface Candidate {
  readonly running: RunningConfig
  readonly warnings: readonly string[]
  /** Settings that differ from the running ones and need a restart. */
  readonly ignored: readonly string[]
}

/** A configuration that one worker serves and the others follow. */
export interface ServedConfig {
  readonly text: string
  /** The hash of the file when it was validated. */
  readonly hash: string
}

export const configTopic: Topic<ServedConfig, void> = { name: 'config' }

type Validation =
  | { readonly ok: true; readonly candidate: Candidate }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * The running configuration, and the only place that replaces it. Changes run one after the other, in
 * all workers, so each is validated against the result of the one before. The worker that makes a change
 * has the others follow.
 */
export class ConfigReloader {
  readonly #options: ConfigReloaderOptions
  #running: RunningConfig
  /** The hash of the file when it was last validated, with whatever result. */
  #validatedHash: string
  #onSwap: (snapshot: Snapshot) => void = () => {}

  constructor(options: ConfigReloaderOptions) {
    const { start, ports, workers } = options
    const { text, loaded, storedKeys } = start
    const { config, set, origins, authorities } = loaded
    this.#options = options
    this.#running = {
      text,
      config,
      sources: { set, origins },
      storedKeys,
      snapshot: buildSnapshot(config, { ...ports, storedKeys, authorities }),
    }
    this.#validatedHash = blake3Hex(text)
    workers.answer(configTopic, (served) => this.#follow(served))
  }

  get config(): Config {
    return this.#running.config
  }

  get snapshot(): Snapshot {
    return this.#running.snapshot
  }

  /** Lists every setting in force with its value and its origin. Credentials are masked. */
  traceSettings(): readonly TracedSetting[] {
    const { config, sources } = this.#running
    return traceSettings({ ...sources, config })
  }

  /** Sets the function that is called after every swap, for parts with state of their own. */
  onSwap(listener: (snapshot: Snapshot) => void): void {
    this.#onSwap = listener
  }

  /** Serves the current content of the file. Never rejects: a failure is logged and counted. */
  async reload(): Promise<void> {
    const { workers } = this.#options
    await workers.inTurn(async () => this.#reload(await this.#readContent())).catch(() => {})
  }

  /** Like `reload`, but only when the file has changed since it was last validated. */
  async refresh(): Promise<void> {
    const refresh = async () => {
      const content = await this.#readContent()
      if (content.hash !== this.#validatedHash) await this.#reload(content)
    }
    await this.#options.workers.inTurn(refresh).catch(() => {})
  }

  /**
   * Serves the current content of the file with the current stored keys of providers. When the file is
   * refused, serves the running configuration with these keys. Rejects when the keys cannot be read.
   */
  reloadProviderKeys(): Promise<void> {
    return this.#options.workers.inTurn(() => this.#reloadProviderKeys())
  }

  /** Like `reloadProviderKeys`, but only when the stored keys are not those that are served. */
  refreshProviderKeys(): Promise<void> {
    const { access, workers } = this.#options
    return workers.inTurn(async () => {
      const stored = await access.providerKeys()
      if (!haveSameEntries(stored, this.#running.storedKeys)) await this.#reloadProviderKeys()
    })
  }

  /** The text of the file and its hash, for `GET /admin/config`. */
  get(): Promise<ConfigText> {
    return readConfigText(this.#options.file)
  }

  /**
   * Replaces the file with a valid configuration and serves it; resolves to the new hash. Rejects
   * with LM-1001 for an invalid configuration, LM-1002 over 1 MiB, and LM-1004 when `ifMatch` is not
   * the hash of the file; all leave the file untouched. When a valid configuration cannot take over,
   * the file keeps it, and the next reload tries again.
   */
  async put(bytes: Uint8Array, ifMatch: string | null): Promise<string> {
    const { file, workers } = this.#options
    const { text, expectedHash } = parseReplacement(bytes, ifMatch) // LM-1001, LM-1002
    return workers.inTurn(async () => {
      await checkHash(file, expectedHash) // LM-1004
      const staged = await file.stage(bytes)
      try {
        const validation = await this.#validate(text)
        if (!validation.ok) throw rejectConfig(validation.problems) // LM-1001
        // An editor may have written to the file during the validation.
        await checkHash(file, expectedHash) // LM-1004
        await staged.commit()
        const hash = blake3Hex(bytes)
        await this.#serve(validation.candidate, hash)
        return hash
      } finally {
        await staged.discard()
      }
    })
  }

  async #reloadProviderKeys(): Promise<void> {
    const isServed = await this.#reload(await this.#readContent())
    if (isServed) return
    await this.#reload({ text: this.#running.text, hash: this.#validatedHash })
  }

  /** Validates the content of the file and serves it. Resolves to false when it is refused. */
  async #reload(content: FileContent): Promise<boolean> {
    const { events } = this.#options
    try {
      const validation =
        'problem' in content ? refuse(content.problem) : await this.#validate(content.text)
      if (validation.ok) await this.#serve(validation.candidate, content.hash)
      else this.#refuse(validation.problems, content.hash)
      return validation.ok
    } catch (error) {
      events.reloadFailed()
      this.#logFailure(error)
      throw error
    }
  }

  #logFailure(error: unknown): void {
    const reason = storageProblem(error)
    const fields = reason === undefined ? errorFields(error) : { reason }
    this.#options.log.write('error', 'the configuration cannot be reloaded', fields)
  }

  #refuse(problems: readonly Problem[], hash: string): void {
    const { log, events, file } = this.#options
    events.reloadFailed()
    for (const problem of problems) {
      log.write('error', `the configuration is refused: ${renderFileProblem(problem, file.name)}`)
    }
    this.#validatedHash = hash
  }

  /** Serves what another worker has validated and logged. */
  async #follow({ text, hash }: ServedConfig): Promise<void> {
    try {
      const validation = await this.#validate(text)
      if (!validation.ok) throw new Error('invalid in this process')
      await this.#swap(validation.candidate.running)
      this.#validatedHash = hash
    } catch (error) {
      this.#logFailure(error)
      throw error
    }
  }

  /** Validates a text as a start does, and builds its snapshot. */
  async #validate(text: string): Promise<Validation> {
    const { load, access, ports } = this.#options
    const loaded = await load(text)
    if (!loaded.ok) return loaded
    const { set, origins, authorities } = loaded
    const { config, ignored } = keepRestartOnly(this.config, loaded.config)
    const problem = access.check(config)
    if (problem) return { ok: false, problems: [problem] }
    const storedKeys = await access.providerKeys()
    const previous = this.#running
    const snapshot = buildSnapshot(config, { ...ports, storedKeys, authorities, previous })
    const warnings = [...loaded.warnings, ...listSnapshotWarnings(snapshot)]
    const running = { text, config, sources: { set, origins }, storedKeys, snapshot }
    return { ok: true, candidate: { running, warnings, ignored } }
  }

  /** Lets a candidate take over in all workers. */
  async #serve(candidate: Candidate, hash: string): Promise<void> {
    const { log, events, workers } = this.#options
    const { running, warnings, ignored } = candidate
    await this.#swap(running)
    await workers.publish(configTopic, { text: running.text, hash })
    this.#validatedHash = hash
    for (const warning of warnings) log.write('warn', warning)
    if (ignored.length > 0) log.write('warn', 'ignored until a restart', { settings: ignored })
    log.write('info', 'configuration reloaded')
    events.configApplied()
  }

  /** Lets a candidate take over. Requests that have begun keep the snapshot before. */
  async #swap(running: RunningConfig): Promise<void> {
    await this.#options.access.adopt(running.config)
    this.#running = running
    this.#onSwap(running.snapshot)
  }

  #readContent(): Promise<FileContent> {
    return readContent(this.#options.file)
  }
}

function haveSameEntries(
  some: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): boolean {
  return some.size === others.size && [...some].every(([name, key]) => others.get(name) === key)
}

function refuse(message: string): Validation {
  return { ok: false, problems: [{ setting: 'the configuration file', message }] }
}
