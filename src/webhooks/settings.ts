import type * as z from 'zod'
import { type Config, webhookSettings } from '../config/index.ts'
import type { WebhookRow } from '../store/index.ts'
import { tryParseJson } from '../wire/json.ts'

export type WebhookSettings = z.infer<typeof webhookSettings>

/** The `[webhooks]` table of the file; undefined when it has none. */
export type WebhookConfig = Config['webhooks']

/** The settings in force, and where they come from. */
export interface EffectiveSettings {
  readonly source: 'database' | 'config' | 'none'
  readonly enabled: boolean
  /** Null when there are none, or those that are stored cannot be read. */
  readonly settings: WebhookSettings | null
  /** Unix seconds; null unless they are stored. */
  readonly updatedAt: number | null
}

/** What is stored wins over the file, also when it says that webhooks are off. */
export function resolveSettings(
  row: WebhookRow | undefined,
  block: WebhookConfig,
): EffectiveSettings {
  if (row) {
    const settings = webhookSettings.safeParse(tryParseJson(row.settings)).data ?? null
    const enabled = row.enabled && settings !== null
    return { source: 'database', enabled, settings, updatedAt: row.updatedAt }
  }
  if (!block) return { source: 'none', enabled: false, settings: null, updatedAt: null }
  // The name of the variable cannot be set at run time, so it is not shown among what can.
  const { signing_key_env: _, ...settings } = block
  return { source: 'config', enabled: true, settings, updatedAt: null }
}
