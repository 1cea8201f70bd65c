import { describe, expect, test } from 'vitest'
import type { AccountEvent } from '../../src/core/account-event.ts'
import { auditEntry } from '../support/audit.ts'
import { event, opened, settings } from './support.ts'

/*
 * `format = "slack"`: events as messages of Slack.
 */

const slack = settings({
  format: 'slack',
  events: ['budget.threshold', 'budget.exhausted', 'key.disabled', 'key.rotated', 'key.deleted'],
})

async function send(change: Partial<AccountEvent>) {
  const { webhooks, receiver } = await opened({ block: slack })
  webhooks.notify(event(change))
  await expect.poll(() => receiver.requests).toHaveLength(1)
  const [{ headers = {}, body } = {}] = receiver.requests
  return { headers, message: JSON.parse(Buffer.from(body ?? '').toString()) }
}

describe('a message of Slack', () => {
  test.each([
    [
      { type: 'budget.threshold' },
      'The key "team a" has spent 50 % of its budget of $10.000000001: $5.000000001.',
    ],
    [
      { type: 'budget.exhausted', scope: 'group', threshold: null },
      'A request of the group "team a" was refused: $5.000000001 of its budget of $10.000000001 are spent.',
    ],
    [{ type: 'key.disabled', threshold: null }, 'The key "team a" was disabled.'],
    [
      { type: 'key.rotated', threshold: null },
      'The key "team a" was rotated: it has a new secret.',
    ],
    [{ type: 'key.deleted', threshold: null }, 'The key "team a" was deleted.'],
  ] as const)('says what happened: %j', async (change, text) => {
    const { headers, message } = await send(change)
    expect(message).toEqual({ text })
    expect(headers).toMatchObject({ 'content-type': 'application/json' })
    expect(headers).not.toHaveProperty('x-gateway-signature')
  })

  test('cannot mention or link by the name of a key', async () => {
    const { message } = await send({ type: 'key.deleted', name: '<!channel> & <http://x|y>' })
    expect(message.text).toBe('The key "&lt;!channel&gt; &amp; &lt;http://x|y&gt;" was deleted.')
  })
})

describe('a signing key beside the format of Slack', () => {
  test.each([
    ['of the environment', { SECRET: 'of-env' }],
    ['that is unset', {}],
  ])('signs nothing: one %s', async (_, env) => {
    const block = { ...slack, signing_key_env: 'SECRET' }
    const { webhooks, receiver, log } = await opened({ block, env })
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(receiver.requests[0]?.headers).not.toHaveProperty('x-gateway-signature')
    expect(webhooks.state.isSigned).toBe(false)
    expect(log.map(({ message }) => message)).toEqual(
      'SECRET' in env
        ? ['webhook deliveries are unsigned: the format of Slack has no signature']
        : [],
    )
  })

  test('fails no message when it cannot be decrypted', async () => {
    const { store, webhooks: first } = await opened({ master: 1 })
    await first.putSigningKey('stored', auditEntry)
    const { webhooks, receiver } = await opened({ block: slack, store, master: 2 })
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(webhooks.state).toMatchObject({ isSigned: false, hasStoredKey: true })
  })

  test('signs again when the format is that of the gateway', async () => {
    const { webhooks, receiver } = await opened({ block: slack })
    await webhooks.putSigningKey('stored', auditEntry)
    await webhooks.put(settings(), auditEntry)
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(receiver.requests[0]?.headers).toHaveProperty('x-gateway-signature')
  })
})
