import { bytesToHex } from '@noble/hashes/utils.js'
import type { AccountEvent } from '../core/account-event.ts'
import { toUsd } from '../core/money.ts'
import { version } from '../core/version.ts'
import { signBody } from './signature.ts'

/** An event as it is sent: the same bytes in every attempt. */
export interface WebhookMessage {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Renders an event under a new id; unsigned without a secret. */
export async function createMessage(
  event: AccountEvent,
  secret: string | undefined,
): Promise<WebhookMessage> {
  const id = `evt_${bytesToHex(crypto.getRandomValues(new Uint8Array(16)))}`
  const body = new TextEncoder().encode(
    JSON.stringify({
      id,
      type: event.type,
      scope: event.scope,
      subject_id: event.subjectId,
      name: event.name,
      budget_max: event.budgetMax === null ? null : toUsd(event.budgetMax),
      budget_spent: toUsd(event.budgetSpent),
      threshold: event.threshold,
      timestamp: event.timestamp,
    }),
  )
  const headers = {
    'content-type': 'application/json',
    'user-agent': `model-gateway/${version}`,
    'x-gateway-event-id': id,
    'x-gateway-timestamp': String(event.timestamp),
    ...(secret !== undefined && { 'x-gateway-signature': await signBody(body, secret) }),
  }
  return { id, headers, body }
}
