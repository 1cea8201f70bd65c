import { Counter, Histogram, type Registry } from 'prom-client'

/** What becomes of webhook events. */
export type WebhookSeries = ReturnType<typeof webhookSeries>

const deliverySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** Adds the series of webhooks, which a gateway without webhooks does not show. Once a registry. */
export function webhookSeries(registry: Registry) {
  const registers = [registry]
  const sent = new Counter({
    name: 'gateway_webhook_sent_total',
    help: 'Webhook events that the receiver has taken.',
    registers,
  })
  const dropped = new Counter({
    name: 'gateway_webhook_dropped_total',
    help: 'Webhook events that were given up before their time: the queue was full, or webhooks were turned off.',
    registers,
  })
  const dead = new Counter({
    name: 'gateway_webhook_dead_total',
    help: 'Webhook events that were given up after their last attempt.',
    registers,
  })
  const delivery = new Histogram({
    name: 'gateway_webhook_delivery_seconds',
    help: 'Time from a webhook event to its delivery, with the wait for its turn and all attempts.',
    buckets: deliverySeconds,
    registers,
  })
  return { sent, dropped, dead, delivery }
}
