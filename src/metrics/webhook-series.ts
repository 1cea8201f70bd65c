import type { Meters } from '../core/metrics.ts'
import { table } from './table.ts'

/** The series of webhooks. */
export type WebhookSeries = ReturnType<typeof createWebhookSeries>

/** Adds the series of webhooks. Called once, when webhooks are first enabled. */
export function createWebhookSeries(meters: Meters) {
  return {
    sent: meters.counter(table.webhooksSent),
    dropped: meters.counter(table.webhooksDropped),
    dead: meters.counter(table.webhooksDead),
    delivery: meters.histogram(table.webhookDelivery),
  }
}
