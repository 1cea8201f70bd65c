import type { Meters } from '../core/metrics.ts'

/** The series of webhooks. */
export type WebhookSeries = ReturnType<typeof createWebhookSeries>

const deliverySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** Adds the series of webhooks. Called once, when webhooks are first enabled. */
export function createWebhookSeries(meters: Meters) {
  const sent = meters.counter({
    name: 'gateway_webhook_sent_total',
    help: 'Webhook events delivered.',
  })
  const dropped = meters.counter({
    name: 'gateway_webhook_dropped_total',
    help: 'Webhook events dropped because the queue was full or webhooks were turned off.',
  })
  const dead = meters.counter({
    name: 'gateway_webhook_dead_total',
    help: 'Webhook events that failed on their last attempt.',
  })
  const delivery = meters.histogram({
    name: 'gateway_webhook_delivery_seconds',
    help: 'Time from a webhook event to its delivery, queueing and all attempts included.',
    buckets: deliverySeconds,
  })
  return { sent, dropped, dead, delivery }
}
