import { describe, expect, test } from 'vitest'
import { MasterKeyError, mintKey, openMasterKey } from '../../src/auth/index.ts'

const key = '0123456789abcdefABCDEF0123456789'.repeat(2)
const master = await openMasterKey(key)

const isShown = (headers: Record<string, string>) => master.isPresentedIn(new Headers(headers))

describe('GATEWAY_MASTER_KEY', () => {
  test.each([
    ['absent', undefined],
    ['empty', ''],
  ])('%s is refused with a message that shows how to create a master key', async (_, value) => {
    const error = await openMasterKey(value).catch((fault: unknown) => fault)
    expect(error).toBeInstanceOf(MasterKeyError)
    expect(String(error)).toMatch(/GATEWAY_MASTER_KEY: is not set.*64 hex digits.*openssl/)
  })

  test.each([
    ['one digit short', key.slice(1)],
    ['one digit long', `${key}0`],
    ['with another letter', `${key.slice(1)}g`],
    ['with a line end', `${key}\n`],
    ['with blanks around it', ` ${key} `],
    ['with a prefix', `0x${key.slice(2)}`],
    ['as a virtual key', mintKey().plaintext],
    ['as a sentence', 'canary in the coal mine'],
  ])('%s is refused and never shown', async (_, value) => {
    const error = await openMasterKey(value).catch((fault: unknown) => fault)
    expect(error).toBeInstanceOf(MasterKeyError)
    expect(String(error)).toMatch(/GATEWAY_MASTER_KEY: must be 64 hex digits/)
    expect(String(error)).not.toContain(value.trim().slice(0, 8))
  })
})

describe('the master key', () => {
  test.each([
    ['as a bearer token', { authorization: `Bearer ${key}` }],
    ['in any spelling of the scheme', { authorization: `bEARER  ${key}` }],
  ])('the master key is recognized %s', async (_, headers) => {
    expect(await isShown(headers)).toBe(true)
  })

  test.each([
    ['without a header', {}],
    ['without a token', { authorization: 'Bearer' }],
    ['without a scheme', { authorization: key }],
    ['with another scheme', { authorization: `Basic ${key}` }],
    ['as x-api-key', { 'x-api-key': key }],
    ['with one digit more', { authorization: `Bearer ${key}0` }],
    ['with one digit less', { authorization: `Bearer ${key.slice(1)}` }],
    ['by another key', { authorization: `Bearer ${key.replace('0', '1')}` }],
    ['by its lower case', { authorization: `Bearer ${key.toLowerCase()}` }],
    ['by a virtual key', { authorization: `Bearer ${mintKey().plaintext}` }],
    ['in the form of a virtual key', { authorization: `Bearer sk-gw-${key}` }],
  ])('the master key is not recognized %s', async (_, headers) => {
    expect(await isShown(headers as Record<string, string>)).toBe(false)
  })

  test('upper-case and lower-case hex digits are the same master key', async () => {
    const label = { purpose: 'p', name: 'n' }
    const sealed = await master.sealer.seal(label, 'text')
    const same = await openMasterKey(key.toLowerCase())
    expect(await same.sealer.open(label, sealed)).toBe('text')
  })
})
