import type * as z from 'zod'
import { type Config, webhookSettings } from '../config/index.ts'
import type { WebhookRow } from '../store/index.ts'
import { tryParseJson } from '../wire/json/parse.ts'

export type WebhookSettings = z.infer<typeof webhookSettings>

/** The `[webhooks]` table of the configuration file; undefined when it has none. */
export type WebhookConfig = Config['webhooks']

/** The settings in force and their source. */
export interface EffectiveSettings {
  readonly source: 'database' | 'config' | 'none'
  readonly enabled: boolean
  /** Null when there are none, or when the stored ones cannot be read. */
  readonly settings: WebhookSettings | null
  /** Unix seconds; null unless the settings are stored. */
  readonly updatedAt: number | null
}

/** Stored settings take precedence over the file, even when they turn webhooks off. */
export function resolveSettings(
  row: WebhookRow | undefined,
  config: WebhookConfig,
): EffectiveSettings {
  if (row) {
    const settings = webhookSettings.safeParse(tryParseJson(row.settings)).data ?? null
    const enabled = row.enabled && settings !== null
    return { source: 'database', enabled, settings, updatedAt: row.updatedAt }
  }
  if (!config) return { source: 'none', enabled: false, settings: null, updatedAt: null }
  // The name of the variable cannot be set at run time, so the admin API does not show it.
  const { signing_key_env: _, ...settings } = config
  return { source: 'config', enabled: true, settings, updatedAt: null }
}
