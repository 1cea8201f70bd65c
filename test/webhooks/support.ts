import { Registry } from 'prom-client'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import type { AccountEvent } from '../../src/core/account-event.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import type { Environment } from '../../src/core/ports.ts'
import { openWebhooks, type WebhookSettings } from '../../src/webhooks/index.ts'
import { Sealer } from '../../src/wire/seal.ts'
import type { LogLine } from '../support/gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { ScriptedUpstream, whole } from '../support/scripted-upstream.ts'

export const url = 'https://hooks.test/in'

/** Valid settings with all defaults of the configuration. */
export function settings(change: Partial<WebhookSettings> = {}): WebhookSettings {
  return {
    url,
    format: 'json',
    events: ['budget.threshold', 'budget.exhausted', 'key.disabled'],
    thresholds: [50, 80, 95],
    channel_capacity: 1024,
    timeout_ms: 5000,
    max_attempts: 5,
    retry_base_ms: 500,
    ...change,
  }
}

export function event(change: Partial<AccountEvent> = {}): AccountEvent {
  return {
    type: 'budget.threshold',
    scope: 'key',
    subjectId: 'k1',
    name: 'team a',
    budgetMax: 10_000_000_001n as NanoUsd,
    budgetSpent: 5_000_000_001n as NanoUsd,
    threshold: 50,
    timestamp: 1_764_000_000,
    ...change,
  }
}

interface Start {
  /** The `[webhooks]` table of the configuration file. */
  readonly block?: WebhookSettings & { readonly signing_key_env?: string }
  readonly env?: Environment
  readonly store?: MemoryStore
  /** The value of each of the 32 bytes of the master key. */
  readonly master?: number
  readonly random?: number
}

/** Webhooks with a clock, random numbers, receiver, database and log that the test controls. */
export async function opened({ block, env = {}, master = 7, random = 0, ...start }: Start = {}) {
  const { store = new MemoryStore() } = start
  const clock = new ManualClock()
  const registry = new Registry()
  const receiver = new ScriptedUpstream().always(whole('', { status: 204 }))
  const log: LogLine[] = []
  const webhooks = await openWebhooks(
    {
      store,
      sealer: await Sealer.create(new Uint8Array(32).fill(master)),
      env,
      meters: createMetrics(registry),
      clock,
      log: {
        enabled: () => true,
        write: (level, message, fields = {}) => log.push({ level, message, fields }),
      },
      upstream: receiver.port,
      random: () => random,
    },
    block,
  )
  /** Returns the counts of events by outcome. */
  const counts = async () => ({
    sent: await valueOf(registry, 'gateway_webhook_sent_total'),
    dropped: await valueOf(registry, 'gateway_webhook_dropped_total'),
    dead: await valueOf(registry, 'gateway_webhook_dead_total'),
  })
  return { webhooks, store, clock, registry, receiver, log, counts }
}

async function valueOf(registry: Registry, name: string): Promise<number | undefined> {
  return (await registry.getSingleMetric(name)?.get())?.values[0]?.value
}
