import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { StoreFault } from '../../src/store/index.ts'
import { auditEntry } from '../support/audit.ts'
import type { ScriptedUpstream } from '../support/scripted-upstream.ts'
import { broken } from '../support/scripted-upstream.ts'
import { event, opened, settings } from './support.ts'

const named = { ...settings(), signing_key_env: 'SECRET' }

/** Returns the secret with which a call is signed; undefined when it is unsigned. */
function signer(receiver: ScriptedUpstream, index: number, secrets: readonly string[]) {
  const { headers, body = '' } = receiver.requests[index] ?? {}
  const signature = headers?.['x-gateway-signature']
  if (signature === undefined) return undefined
  const mac = (secret: string) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return secrets.find((secret) => mac(secret) === signature) ?? 'another secret'
}

describe('the signing key', () => {
  test.each(['short', 'ключ ключ', 'x'.repeat(300), ' with spaces \n'])(
    'the key %j signs the exact bytes of the body',
    async (secret) => {
      const { webhooks, receiver } = await opened({ block: named, env: { SECRET: secret } })
      webhooks.notify(event({ name: 'bücher 📚' }))
      await expect.poll(() => receiver.requests).toHaveLength(1)
      expect(signer(receiver, 0, [secret])).toBe(secret)
    },
  )

  test('the key of the variable takes precedence over the stored one', async () => {
    const { store, webhooks: first } = await opened()
    const signerWith = async (env: Readonly<Record<string, string>>) => {
      const { webhooks, receiver } = await opened({ block: named, env, store })
      webhooks.notify(event())
      await expect.poll(() => receiver.requests).toHaveLength(1)
      return { by: signer(receiver, 0, ['of-env', 'stored']), state: webhooks.state }
    }
    expect(await signerWith({ SECRET: 'of-env' })).toMatchObject({
      by: 'of-env',
      state: { isSigned: true, hasStoredKey: false },
    })
    await first.putSigningKey('stored', auditEntry)
    expect(await signerWith({ SECRET: 'of-env' })).toMatchObject({
      by: 'of-env',
      state: { isSigned: true, hasStoredKey: true },
    })
    expect(await signerWith({ SECRET: '' })).toMatchObject({
      by: 'stored',
      state: { isSigned: true, hasStoredKey: true },
    })
    expect(await signerWith({})).toMatchObject({ by: 'stored' })
  })

  test('the key of the variable also applies to stored settings', async () => {
    const { store, webhooks: first } = await opened()
    await first.put(settings({ url: 'https://stored.test' }), auditEntry)
    const { webhooks, receiver } = await opened({
      block: named,
      env: { SECRET: 'of-env' },
      store,
    })
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(receiver.requests[0]?.url).toBe('https://stored.test')
    expect(signer(receiver, 0, ['of-env'])).toBe('of-env')
  })

  test('a replaced key signs from the next event on, and retries keep their signature', async () => {
    const { webhooks, receiver, clock } = await opened({ block: settings() })
    await webhooks.putSigningKey('old', auditEntry)
    receiver.next(broken(), broken())
    webhooks.notify(event())
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    await webhooks.putSigningKey('new', auditEntry)
    await expect.poll(() => clock.advance(1000).then(() => receiver.requests)).toHaveLength(4)
    const signers = [0, 1, 2, 3].map((index) => signer(receiver, index, ['old', 'new']))
    expect(signers).toEqual(['old', 'old', 'old', 'new'])
    expect(receiver.text(2)).toBe(receiver.text(0))
  })

  test('a deleted key leaves the next event unsigned, with a line in the log', async () => {
    const { webhooks, receiver, log, store } = await opened({ block: settings() })
    await webhooks.putSigningKey('old', auditEntry)
    log.length = 0
    await webhooks.deleteSigningKey(auditEntry)
    expect(log).toMatchObject([{ level: 'warn', message: expect.stringContaining('unsigned') }])
    expect(await store.readSealed('webhook-signing-key')).toEqual([])
    expect(webhooks.state).toMatchObject({ isSigned: false, hasStoredKey: false })
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(signer(receiver, 0, [])).toBeUndefined()
  })

  test('the signing key is stored sealed and survives a restart', async () => {
    const { webhooks, store, clock } = await opened()
    await webhooks.putSigningKey('canary-secret', auditEntry)
    const rows = await store.readSealed('webhook-signing-key')
    expect(rows).toMatchObject([{ updatedAt: clock.now() / 1000 }])
    expect(JSON.stringify(rows)).not.toContain('canary')
    const again = await opened({ block: settings(), store })
    again.webhooks.notify(event())
    await expect.poll(() => again.receiver.requests).toHaveLength(1)
    expect(signer(again.receiver, 0, ['canary-secret'])).toBe('canary-secret')
  })

  test('a signing key that cannot be stored changes nothing', async () => {
    const { webhooks, store } = await opened()
    store.trouble = 'refuse'
    await expect(webhooks.putSigningKey('new', auditEntry)).rejects.toThrow(StoreFault)
    await expect(webhooks.deleteSigningKey(auditEntry)).rejects.toThrow(StoreFault)
    expect(webhooks.state.hasStoredKey).toBe(false)
  })
})

describe('a variable that is named but unset, with no stored key,', () => {
  const problem = 'the variable SECRET is unset or empty, and no signing key is stored'

  test.each([{}, { SECRET: '' }])(
    'a named variable without a key is refused at boot (%j)',
    async (env) => {
      await expect(opened({ block: named, env })).rejects.toThrow(problem)
    },
  )

  test('a named variable without a key is refused at boot even with stored settings', async () => {
    const { store, webhooks } = await opened()
    await webhooks.put(settings(), auditEntry)
    await expect(opened({ block: named, store })).rejects.toThrow(problem)
  })

  test('a named variable without a key is accepted while webhooks are turned off', async () => {
    const { store, webhooks } = await opened()
    await webhooks.disable(auditEntry)
    expect((await opened({ block: named, store })).webhooks.state.enabled).toBe(false)
  })

  test('a named variable without a key is refused at a reload, which changes nothing', async () => {
    const { webhooks } = await opened({ block: settings({ thresholds: [7] }) })
    expect(() => webhooks.reload(named)).toThrow(problem)
    expect(webhooks.percentages()).toEqual([7])
  })
})

describe('a stored key that cannot be decrypted', () => {
  /** Returns the database of a gateway with another master key. */
  async function locked() {
    const { webhooks, store } = await opened({ master: 1 })
    await webhooks.putSigningKey('old', auditEntry)
    return store
  }

  test('events are not delivered unsigned when the stored key cannot be decrypted', async () => {
    const { webhooks, receiver, clock, log, counts } = await opened({
      block: settings(),
      store: await locked(),
      master: 2,
    })
    expect(log).toMatchObject([
      { level: 'error', message: expect.stringContaining('signing key cannot be decrypted') },
    ])
    expect(webhooks.state).toMatchObject({ isSigned: false, hasStoredKey: true })
    webhooks.notify(event())
    await clock.advance(1000)
    expect(receiver.requests).toEqual([])
    expect(await counts()).toEqual({ sent: 0, dropped: 0, dead: 1 })
    expect(log.at(-1)?.fields).toMatchObject({
      reason: 'the stored signing key cannot be decrypted',
    })
  })

  test('an undecryptable stored key is ignored when the variable is set', async () => {
    const { webhooks, receiver, log } = await opened({
      block: named,
      env: { SECRET: 'of-env' },
      store: await locked(),
      master: 2,
    })
    expect(log).toEqual([])
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(signer(receiver, 0, ['of-env'])).toBe('of-env')
  })

  test('an undecryptable stored key does not stop the boot', async () => {
    const store = await locked()
    const { webhooks } = await opened({ block: named, store, master: 2 })
    expect(webhooks.state).toMatchObject({ enabled: true, isSigned: false })
  })

  test('storing the key again replaces an undecryptable one', async () => {
    const { webhooks, receiver } = await opened({
      block: settings(),
      store: await locked(),
      master: 2,
    })
    await webhooks.putSigningKey('new', auditEntry)
    webhooks.notify(event())
    await expect.poll(() => receiver.requests).toHaveLength(1)
    expect(signer(receiver, 0, ['new'])).toBe('new')
  })
})
