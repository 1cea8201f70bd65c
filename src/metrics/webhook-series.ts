import type { Meters } from '../core/metrics.ts'
import { Counter } from './counter.ts'
import { Histogram } from './histogram.ts'
import { seriesTable } from './table.ts'

/** The series of webhooks. */
export type WebhookSeries = ReturnType<typeof createWebhookSeries>

/** Adds the series of webhooks. Called once, when webhooks are first enabled. */
export function createWebhookSeries(meters: Meters) {
  return {
    sent: new Counter(meters, seriesTable.webhooksSent),
    dropped: new Counter(meters, seriesTable.webhooksDropped),
    dead: new Counter(meters, seriesTable.webhooksDead),
    delivery: new Histogram(meters, seriesTable.webhookDelivery),
  }
}
