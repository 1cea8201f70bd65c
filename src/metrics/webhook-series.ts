import type { Meters } from '../core/metrics.ts'
import { Counter } from './counter.ts'
import { Histogram } from './histogram.ts'
import { table } from './table.ts'

/** The series of webhooks. */
export type WebhookSeries = ReturnType<typeof createWebhookSeries>

/** Adds the series of webhooks. Called once, when webhooks are first enabled. */
export function createWebhookSeries(meters: Meters) {
  return {
    sent: new Counter(meters, table.webhooksSent),
    dropped: new Counter(meters, table.webhooksDropped),
    dead: new Counter(meters, table.webhooksDead),
    delivery: new Histogram(meters, table.webhookDelivery),
  }
}
