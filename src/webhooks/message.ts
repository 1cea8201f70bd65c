import { bytesToHex } from '@noble/hashes/utils.js'
import type { AccountEvent } from '../core/account-event.ts'
import { toUsd } from '../core/money.ts'
import { version } from '../core/version.ts'
import type { WebhookSettings } from './settings.ts'
import { signBody } from './signature.ts'
import { renderForSlack } from './slack.ts'

/** An event as it is sent: the same bytes in every attempt. */
export interface WebhookMessage {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface MessageOptions {
  readonly format: WebhookSettings['format']
  /** Undefined for an unsigned message. */
  readonly secret: string | undefined
}

/** Renders an event under a new id. */
export async function createMessage(
  event: AccountEvent,
  { format, secret }: MessageOptions,
): Promise<WebhookMessage> {
  const id = `evt_${bytesToHex(crypto.getRandomValues(new Uint8Array(16)))}`
  const content = format === 'slack' ? renderForSlack(event) : renderEvent(event, id)
  const body = new TextEncoder().encode(JSON.stringify(content))
  const headers = {
    'content-type': 'application/json',
    'user-agent': `model-gateway/${version}`,
    'x-gateway-event-id': id,
    'x-gateway-timestamp': String(event.timestamp),
    ...(secret !== undefined && { 'x-gateway-signature': await signBody(body, secret) }),
  }
  return { id, headers, body }
}

function renderEvent(event: AccountEvent, id: string): object {
  return {
    id,
    type: event.type,
    scope: event.scope,
    subject_id: event.subjectId,
    name: event.name,
    budget_max: event.budgetMax === null ? null : toUsd(event.budgetMax),
    budget_spent: toUsd(event.budgetSpent),
    threshold: event.threshold,
    timestamp: event.timestamp,
  }
}
