import { createDecipheriv, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SealError, Sealer } from '../../src/wire/seal.ts'

const master = Uint8Array.from({ length: 32 }, (_, at) => at)
const sealer = await Sealer.create(master)
const label = { purpose: 'provider-key', name: 'openai' }
const secret = 'sk-canary-schlüssel-🔑'

describe('a sealed text', () => {
  test.each(['', 'x', secret, 'line\nline\0', '\ufeffmarked', 'x'.repeat(100_000)])(
    'a sealed text opens to the plaintext (%#)',
    async (text) => {
      expect(await sealer.open(label, await sealer.seal(label, text))).toBe(text)
    },
  )

  test('a sealed text is a version and hex without any plaintext', async () => {
    const sealed = await sealer.seal(label, secret)
    const bytes = new TextEncoder().encode(secret)
    expect(sealed).toMatch(/^v1\.[0-9a-f]+$/)
    // A nonce of 96 bits, the text, a tag of 128 bits.
    expect(sealed).toHaveLength('v1.'.length + 2 * (12 + bytes.length + 16))
    expect(sealed).not.toContain(Buffer.from(bytes).toString('hex').slice(0, 8))
  })

  test('sealing twice gives different texts with different nonces', async () => {
    const sealed = await Promise.all(Array.from({ length: 200 }, () => sealer.seal(label, secret)))
    expect(new Set(sealed.map((text) => text.slice(3, 27))).size).toBe(200)
  })

  test('a sealed text can be opened with the master key and the documented algorithm', async () => {
    const sealed = Buffer.from((await sealer.seal(label, secret)).slice(3), 'hex')
    const info = 'model-gateway seal v1 provider-key'
    const key = Buffer.from(hkdfSync('sha256', master, '', info, 32))
    const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), {
      authTagLength: 16,
    })
    opener.setAAD(Buffer.from('["v1","provider-key","openai"]'))
    opener.setAuthTag(sealed.subarray(-16))
    const opened = Buffer.concat([opener.update(sealed.subarray(12, -16)), opener.final()])
    expect(opened.toString()).toBe(secret)
  })
})

describe('rejected texts', () => {
  test('a text with any changed byte is rejected', async () => {
    const sealed = await sealer.seal(label, secret)
    for (let at = 3; at < sealed.length; at += 2) {
      const byte = Number.parseInt(sealed.slice(at, at + 2), 16)
      for (const flip of [1, 0x80, 0xff]) {
        const other = (byte ^ flip).toString(16).padStart(2, '0')
        await expectRefused(sealed.slice(0, at) + other + sealed.slice(at + 2))
      }
    }
  })

  test('a text with any character removed or doubled is rejected', async () => {
    const sealed = await sealer.seal(label, secret)
    for (let at = 0; at < sealed.length; at++) {
      await expectRefused(sealed.slice(0, at) + sealed.slice(at + 1))
      await expectRefused(sealed.slice(0, at + 1) + sealed.slice(at))
    }
  })

  test('a shortened or extended text is rejected', async () => {
    const sealed = await sealer.seal(label, secret)
    for (let end = 0; end < sealed.length; end++) await expectRefused(sealed.slice(0, end))
    await expectRefused(`${sealed}00`)
  })

  test.each([
    ['nothing', () => ''],
    ['a text that was never sealed', () => 'sk-canary'],
    ['another version', (sealed: string) => sealed.replace('v1.', 'v2.')],
    ['no version', (sealed: string) => sealed.slice(3)],
    ['another spelling', (sealed: string) => `v1.${sealed.slice(3).toUpperCase()}`],
    ['white space around it', (sealed: string) => `${sealed}\n`],
    ['a nonce and a tag of nothing', () => `v1.${'0'.repeat(56)}`],
  ])('%s is rejected', async (_, change) => {
    await expectRefused(change(await sealer.seal(label, secret)))
  })

  test.each([
    ['name', { ...label, name: 'azure' }],
    ['empty name', { ...label, name: '' }],
    ['purpose', { ...label, purpose: 'webhook-signing-key' }],
    ['share of purpose and name', { purpose: 'provider-key"', name: '"openai' }],
  ])('a text sealed for another %s is rejected', async (_, other) => {
    const sealed = await sealer.seal(other, secret)
    await expectRefused(sealed)
    expect(await sealer.open(other, sealed)).toBe(secret)
  })

  test('a text sealed with a master key that differs in one bit is rejected', async () => {
    const other = await Sealer.create(master.map((byte, at) => (at === 31 ? byte ^ 1 : byte)))
    await expectRefused(await other.seal(label, secret))
  })
})

async function expectRefused(sealed: string): Promise<void> {
  const error = await sealer.open(label, sealed).catch((fault: unknown) => fault)
  expect(error).toBeInstanceOf(SealError)
  expect(String(error)).not.toContain('canary')
}
