import type { Notify } from '../core/account-event.ts'
import type { AuditEntry } from '../core/audit.ts'
import type { Meters } from '../core/metrics.ts'
import type { Environment } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { createWebhookSeries } from '../metrics/index.ts'
import type { Store, WebhookRow } from '../store/index.ts'
import type { Sealer } from '../wire/seal.ts'
import type { DeliveryPolicy, SenderPorts } from './sender.ts'
import { SenderGroup } from './sender-group.ts'
import {
  type EffectiveSettings,
  resolveSettings,
  type WebhookConfig,
  type WebhookSettings,
} from './settings.ts'
import {
  deleteSigningKey,
  openSigningKey,
  resolveSigning,
  type SigningKeys,
  type SigningMode,
  sealSigningKey,
  unsigned,
} from './signing-key.ts'

export interface WebhooksOptions extends Omit<SenderPorts, 'series'> {
  readonly store: Pick<Store, 'readWebhookSettings' | 'readSealed' | 'audited'>
  readonly sealer: Sealer
  readonly env: Environment
  /** The webhook series are registered here when webhooks are first enabled. */
  readonly meters: Meters
}

/** The state that the admin API shows. */
export interface WebhookState extends EffectiveSettings {
  readonly isSigned: boolean
  readonly hasStoredKey: boolean
}

/** The file names a variable for the signing key, but no key is set or stored. */
export class UnsignedWebhooksError extends Error {
  override readonly name = 'UnsignedWebhooksError'

  /** The setting at fault. */
  readonly setting = 'webhooks.signing_key_env'

  constructor(variable: string) {
    super(`the variable ${variable} is unset or empty, and no signing key is stored`)
  }
}

/** Returns an error when the file requires signatures and there is no key; else undefined. */
export function findUnsignedError(
  config: WebhookConfig,
  keys: SigningKeys,
): UnsignedWebhooksError | undefined {
  if (config?.format === 'slack') return undefined
  const variable = config?.signing_key_env
  const isUnsigned = resolveSigning(variable, keys).kind === 'unsigned'
  return variable !== undefined && isUnsigned ? new UnsignedWebhooksError(variable) : undefined
}

/** Opens the stored settings. Rejects with `UnsignedWebhooksError` as `check` throws it. */
export async function openWebhooks(
  options: WebhooksOptions,
  config: WebhookConfig,
): Promise<Webhooks> {
  const row = await options.store.readWebhookSettings()
  const key = await openSigningKey(options.store, options.sealer)
  const webhooks = new Webhooks(options, { row, key })
  webhooks.reload(config)
  return webhooks
}

/** Reports events on keys and groups to the one receiver, while webhooks are enabled. */
export class Webhooks {
  readonly #options: WebhooksOptions
  #row: WebhookRow | undefined
  #signingKey: SigningMode
  #config: WebhookConfig
  #effective: EffectiveSettings = resolveSettings(undefined, undefined)
  #senders: SenderGroup | undefined

  constructor(options: WebhooksOptions, stored: { row: WebhookRow | undefined; key: SigningMode }) {
    this.#options = options
    this.#row = stored.row
    this.#signingKey = stored.key
  }

  /** The budget percentages to report: none while webhooks are off. */
  readonly percentages = (): readonly number[] => {
    const { enabled, settings } = this.#effective
    return enabled && settings ? settings.thresholds : []
  }

  /** Accepts an event. Returns at once and never throws. Ignores types that are not enabled. */
  readonly notify: Notify = (event) => {
    if (this.#effective.settings?.events.includes(event.type)) this.#senders?.accept(event)
  }

  get state(): WebhookState {
    return {
      ...this.#effective,
      isSigned: this.#signing.kind === 'signed',
      hasStoredKey: this.#signingKey.kind !== 'unsigned',
    }
  }

  /**
   * Throws `UnsignedWebhooksError` when the table of the file requires signatures without a key.
   */
  check(config: WebhookConfig): void {
    const problem = findUnsignedError(config, this.#keys)
    const { enabled, settings } = resolveSettings(this.#row, config)
    if (problem && enabled && settings?.format !== 'slack') throw problem
  }

  /** Applies the table of the file. Throws `UnsignedWebhooksError`, and then changes nothing. */
  reload(config: WebhookConfig): void {
    this.check(config)
    this.#config = config
    this.#apply()
  }

  /** Applies the stored settings and the stored signing key, which another process may have changed. */
  async refresh(): Promise<void> {
    const { store, sealer } = this.#options
    this.#row = await store.readWebhookSettings()
    this.#signingKey = await openSigningKey(store, sealer)
    this.#apply()
  }

  /** Stores the settings and turns webhooks on. */
  async put(settings: WebhookSettings, entry: AuditEntry): Promise<void> {
    await this.#store({ enabled: true, settings }, entry)
  }

  /** Turns webhooks off, even if the file configures them. Waiting events are dropped. */
  async disable(entry: AuditEntry): Promise<void> {
    await this.#store({ enabled: false, settings: this.#effective.settings }, entry)
  }

  /** Stores a signing key for events that are not yet being delivered. */
  async putSigningKey(secret: string, entry: AuditEntry): Promise<void> {
    const { store, sealer } = this.#options
    await store
      .audited(entry)
      .putSealed(
        await sealSigningKey(secret, { sealer, updatedAt: unixSeconds(this.#options.clock) }),
      )
    this.#signingKey = { kind: 'signed', secret }
    this.#apply()
  }

  /** Resolves to whether there was a key. */
  async deleteSigningKey(entry: AuditEntry): Promise<boolean> {
    const isDeleted = await deleteSigningKey(this.#options.store.audited(entry))
    this.#signingKey = unsigned
    this.#apply()
    return isDeleted
  }

  /** Ends at once. Events that were not delivered are lost. */
  close(): void {
    this.#senders?.close()
  }

  /** Messages to Slack are unsigned: their address is the secret. */
  get #signing(): SigningMode {
    return this.#effective.settings?.format === 'slack' ? unsigned : this.#configuredSigning
  }

  get #configuredSigning(): SigningMode {
    return resolveSigning(this.#config?.signing_key_env, this.#keys)
  }

  get #keys(): SigningKeys {
    return { env: this.#options.env, stored: this.#signingKey }
  }

  async #store(
    { enabled, settings }: Pick<EffectiveSettings, 'enabled' | 'settings'>,
    entry: AuditEntry,
  ): Promise<void> {
    const row = {
      enabled,
      settings: JSON.stringify(settings),
      updatedAt: unixSeconds(this.#options.clock),
    }
    await this.#options.store.audited(entry).putWebhookSettings(row)
    this.#row = row
    this.#apply()
  }

  /** Applies the stored settings, the file and the signing key. */
  #apply(): void {
    const { meters, log } = this.#options
    this.#effective = resolveSettings(this.#row, this.#config)
    const { enabled, settings } = this.#effective
    if (this.#row?.enabled && !settings) {
      log.write('error', 'webhooks are off: the stored settings cannot be read; set them again')
    }
    if (!enabled || !settings) return this.#senders?.close()
    const signing = this.#signing
    this.#senders ??= new SenderGroup({ ...this.#options, series: createWebhookSeries(meters) })
    this.#senders.use(settings.channel_capacity, toDeliveryPolicy(settings, signing))
    if (settings.format === 'slack' && this.#configuredSigning.kind !== 'unsigned') {
      log.write('warn', 'webhook deliveries are unsigned: the format of Slack has no signature')
    }
    if (settings.format !== 'slack' && signing.kind === 'unsigned') {
      log.write('warn', 'webhook deliveries are unsigned: there is no signing key')
    }
    if (signing.kind === 'locked') {
      log.write(
        'error',
        'webhook deliveries fail: the stored signing key cannot be decrypted; store it again',
      )
    }
  }
}

/** The maximum pause between attempts, unless `retry_base_ms` is longer. In milliseconds. */
const maxPauseMs = 60_000

function toDeliveryPolicy(settings: WebhookSettings, signing: SigningMode): DeliveryPolicy {
  const base = settings.retry_base_ms
  return {
    url: settings.url,
    format: settings.format,
    timeout: settings.timeout_ms,
    retry: {
      maxAttempts: settings.max_attempts,
      baseWait: base,
      maxWait: Math.max(base, maxPauseMs),
    },
    signing,
  }
}
