import { beforeEach, describe, expect, test, vi } from 'vitest'
import { KeyRing, mintKey, newKeyId } from '../../src/auth/index.ts'
import type { VirtualKey } from '../../src/core/accounts.ts'
import { GatewayError, renderError } from '../../src/core/errors.ts'
import type { Fingerprint } from '../../src/core/ports.ts'
import * as digest from '../../src/wire/digest.ts'
import { unlimited } from '../support/unlimited.ts'

vi.mock('../../src/wire/digest.ts', { spy: true })

interface Holder {
  record: VirtualKey
}

const now = 1_764_000_000

let ring: KeyRing<Holder>
let holder: Holder
let secret: string

/** An active key. */
function newHolder(fields: Partial<VirtualKey> = {}): Holder {
  const record = {
    id: newKeyId(),
    name: 'k',
    groupId: null,
    ...unlimited,
    expiresAt: null,
    disabled: false,
    graceEndsAt: null,
    createdAt: now,
    deletedAt: null,
  }
  return { record: { ...record, ...fields } }
}

function issue(to: Holder): string {
  const minted = mintKey()
  ring.put({ digest: minted.digest }, to)
  return minted.plaintext
}

function change(fields: Partial<VirtualKey>): void {
  holder.record = { ...holder.record, ...fields }
}

const digestOf = (plaintext: string) => digest.blake3Hex(plaintext)

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const identify = (headers: Record<string, string>, at = now) =>
  ring.authenticate({ headers: new Headers(headers) }, at)

/** Returns the error that a client gets. */
function refusal(headers: Record<string, string>, at = now): unknown {
  try {
    identify(headers, at)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { ...renderError(error, 'request'), status: error.status, headers: error.detail.headers }
  }
  throw new Error('the key was accepted')
}

const refused = {
  error: {
    code: 'LM-4004',
    type: 'invalid_request',
    message: 'the API key is missing or not valid',
    param: null,
    request_id: 'request',
  },
  status: 401,
  headers: ['www-authenticate', 'Bearer', 'x-should-retry', 'false'],
}

/** A digest or a fingerprint. */
const standsForSecret = /^[0-9a-f]{64}$|^fingerprint of /
const fingerprint = vi.fn<Fingerprint>((text) => `fingerprint of ${text}`)

beforeEach(() => {
  ring = new KeyRing(fingerprint)
  holder = newHolder()
  secret = issue(holder)
})

describe('a rotated key with a grace period', () => {
  function rotate(graceEndsAt: number | null): string {
    const former = digestOf(secret)
    const minted = mintKey()
    holder.record = { ...holder.record, graceEndsAt }
    ring.put({ digest: minted.digest, formerDigest: former }, holder)
    return minted.plaintext
  }

  test('both secrets are accepted until the grace period ends', () => {
    const renewed = rotate(now + 10)
    for (const at of [now, now + 9, now]) {
      expect(identify(bearer(secret), at)).toBe(holder)
      expect(identify(bearer(renewed), at)).toBe(holder)
    }
    expect(refusal(bearer(secret), now + 10)).toEqual(refused)
    expect(identify(bearer(renewed), now + 10)).toBe(holder)
  })

  test('a key that is disabled, expired or deleted has no valid secret', () => {
    const renewed = rotate(now + 10)
    for (const fields of [{ disabled: true }, { expiresAt: now }]) {
      const { record } = holder
      change(fields)
      for (const key of [secret, renewed]) expect(refusal(bearer(key))).toEqual(refused)
      holder.record = record
    }
    change({ deletedAt: now })
    ring.put({ digest: digestOf(renewed), formerDigest: digestOf(secret) }, holder)
    for (const key of [secret, renewed]) expect(refusal(bearer(key))).toEqual(refused)
  })
})

describe('a key in force', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'an active key is accepted with the scheme %s',
    (scheme) => {
      expect(identify({ authorization: `${scheme} ${secret}` })).toBe(holder)
    },
  )

  test('an active key is accepted after several blanks', () => {
    expect(identify({ authorization: `Bearer   ${secret}` })).toBe(holder)
  })

  test.each(['x-api-key', 'api-key'])('an active key is accepted as %s', (name) => {
    expect(identify({ [name]: secret })).toBe(holder)
  })

  const wrong = mintKey().plaintext

  test.each([
    ['x-api-key', 'another scheme', { authorization: 'Basic eDp5' }],
    ['x-api-key', 'a malformed bearer token', bearer('nonsense')],
    ['x-api-key', 'an unknown bearer token', bearer(wrong)],
    ['x-api-key', 'an unknown api-key', { 'api-key': wrong }],
    ['x-api-key', 'two unknown keys', { ...bearer(wrong), 'api-key': wrong }],
    ['api-key', 'an unknown bearer token', bearer(wrong)],
    ['api-key', 'two unknown keys', { ...bearer(wrong), 'x-api-key': wrong }],
  ])('an active key in %s is accepted beside %s', (name, _, others) => {
    expect(identify({ ...others, [name]: secret })).toBe(holder)
    expect(refusal({ ...others, [name]: wrong })).toEqual(refused)
  })

  test('an active bearer token is accepted beside unknown keys', () => {
    expect(identify({ ...bearer(secret), 'x-api-key': wrong, 'api-key': wrong })).toBe(holder)
  })

  test('of two active keys, the bearer token counts before x-api-key and api-key', () => {
    const [other, third] = [newHolder(), newHolder()]
    const headers = { 'x-api-key': issue(other), 'api-key': issue(third) }
    expect(identify({ ...bearer(secret), ...headers })).toBe(holder)
    expect(identify(headers)).toBe(other)
  })

  test('an active key is not mistaken for another', () => {
    const others = Array.from({ length: 50 }, () => newHolder())
    const secrets = others.map(issue)
    expect(secrets.map((key) => identify(bearer(key)))).toEqual(others)
    expect(identify(bearer(secret))).toBe(holder)
  })

  test('a key is active until the second in which it expires', () => {
    change({ expiresAt: now + 1 })
    expect(identify(bearer(secret))).toBe(holder)
    expect(refusal(bearer(secret), now + 1)).toEqual(refused)
    change({ expiresAt: null })
    expect(identify(bearer(secret), now + 1)).toBe(holder)
  })

  test('a key is active again when it is enabled again', () => {
    change({ disabled: true })
    expect(refusal(bearer(secret))).toEqual(refused)
    change({ disabled: false })
    expect(identify(bearer(secret))).toBe(holder)
  })
})

const unknown = mintKey().plaintext
const master = '0123456789abcdef'.repeat(4)

/** Every kind of invalid credential, with a function that creates it. */
const refusals: readonly (readonly [string, () => Record<string, string>])[] = [
  ['no header at all', () => ({})],
  ['an empty authorization', () => ({ authorization: '' })],
  ['a scheme without a token', () => ({ authorization: 'Bearer' })],
  ['a key without a scheme', () => ({ authorization: secret })],
  ['a scheme that runs into the key', () => ({ authorization: `Bearer${secret}` })],
  ['another scheme', () => ({ authorization: `Basic ${secret}` })],
  ['two keys', () => ({ authorization: `Bearer ${secret} ${secret}` })],
  ['x-api-key sent twice', () => ({ 'x-api-key': `${secret}, ${secret}` })],
  ['an empty x-api-key', () => ({ 'x-api-key': '' })],
  ['api-key sent twice', () => ({ 'api-key': `${secret}, ${secret}` })],
  ['api-key with a scheme', () => ({ 'api-key': `Bearer ${secret}` })],
  ['x-api-key with a scheme', () => ({ 'x-api-key': `Bearer ${secret}` })],
  ['a malformed key', () => bearer('sk-gw-1234')],
  ['a key in capitals', () => bearer(secret.toUpperCase())],
  ['a key with one digit more', () => bearer(`${secret}0`)],
  ['a key with one digit less', () => bearer(secret.slice(0, -1))],
  ['a digest in the place of the key', () => bearer(digest.blake3Hex(secret))],
  ['a provider’s key', () => bearer('sk-proj-abcdef')],
  ['the master key', () => bearer(master)],
  ['the master key as x-api-key', () => ({ 'x-api-key': master })],
  ['the master key as api-key', () => ({ 'api-key': master })],
  ['the master key in the form of a key', () => bearer(`sk-gw-${master}`)],
  ['a token as long as headers can be', () => bearer('x'.repeat(60_000))],
  [
    'blanks as long as headers can be',
    () => ({ authorization: `Bearer ${' '.repeat(60_000)}x y` }),
  ],
  ['an unknown key', () => bearer(unknown)],
  ['an unknown key as x-api-key', () => ({ 'x-api-key': unknown })],
  ['an unknown key as api-key', () => ({ 'api-key': unknown })],
  ['an unknown key beside a malformed one', () => ({ ...bearer('sk'), 'x-api-key': unknown })],
  [
    'a disabled key',
    () => {
      change({ disabled: true })
      return bearer(secret)
    },
  ],
  [
    'an expired key',
    () => {
      change({ expiresAt: now })
      return bearer(secret)
    },
  ],
  [
    'a key that expired at the epoch',
    () => {
      change({ expiresAt: 0 })
      return bearer(secret)
    },
  ],
  [
    'a key with a tombstone',
    () => {
      change({ deletedAt: now })
      return bearer(secret)
    },
  ],
  [
    'a key that was taken off the ring',
    () => {
      change({ deletedAt: now })
      ring.put({ digest: digest.blake3Hex(secret) }, holder)
      change({ deletedAt: null })
      return bearer(secret)
    },
  ],
  [
    'a rotated key',
    () => {
      issue(holder)
      return bearer(secret)
    },
  ],
]

describe.each([
  ['that was never shown before', () => {}],
  ['that was accepted before', () => identify(bearer(secret))],
])('with a key %s', (_state, before) => {
  test.each(refusals)('%s is rejected with the same error', (_, show) => {
    before()
    const headers = show()
    expect(refusal(headers)).toEqual(refused)
  })

  test.each(refusals)('%s is rejected after the same work', (_, show) => {
    before()
    const headers = show()
    const hash = vi.mocked(digest.blake3Hex).mockClear()
    const lookup = vi.spyOn(Map.prototype, 'get').mockClear()
    fingerprint.mockClear()
    refusal(headers)
    const lookups = lookup.mock.calls.filter(([key]) => standsForSecret.test(String(key))).length
    lookup.mockRestore()
    const work = [hash, fingerprint].map(({ mock }) => mock.calls.map(([text]) => text.length))
    expect(work).toEqual([[secret.length], [secret.length]])
    expect(lookups).toBe(3)
  })
})

describe('an accepted secret', () => {
  test('an accepted secret is then recognized by its fingerprint', () => {
    identify(bearer(secret))
    const hash = vi.mocked(digest.blake3Hex).mockClear()
    expect(identify(bearer(secret))).toBe(holder)
    expect(hash).not.toHaveBeenCalled()
  })

  test.each(['x-api-key', 'api-key'])('an accepted secret is recognized in %s', (name) => {
    identify(bearer(secret))
    const hash = vi.mocked(digest.blake3Hex).mockClear()
    expect(identify({ [name]: secret })).toBe(holder)
    expect(hash).not.toHaveBeenCalled()
  })

  test('an accepted secret does not make another header valid', () => {
    const other = `Basic ${'-'.repeat(secret.length + 1)}`
    identify({ authorization: other, 'x-api-key': secret })
    expect(refusal({ authorization: other })).toEqual(refused)
  })

  test('an accepted secret is remembered in one form only', () => {
    const remember = vi.spyOn(Map.prototype, 'set').mockClear()
    const spellings = ['bearer ', 'BEARER ', 'Bearer  ', 'Bearer   ', 'Bearer ']
    for (const spelling of spellings) {
      expect(identify({ authorization: spelling + secret })).toBe(holder)
    }
    const kept = remember.mock.calls.filter(([key]) => standsForSecret.test(String(key)))
    remember.mockRestore()
    expect(kept).toHaveLength(1)
  })

  test('an accepted secret always returns the current entry', () => {
    identify(bearer(secret))
    const renewed = { record: { ...holder.record, name: 'renewed' } }
    ring.put({ digest: digest.blake3Hex(secret) }, renewed)
    expect(identify(bearer(secret))).toBe(renewed)
  })

  test('a secret is accepted without a fingerprint function', () => {
    ring = new KeyRing()
    secret = issue(holder)
    for (let i = 0; i < 3; i++) expect(identify(bearer(secret))).toBe(holder)
    change({ disabled: true })
    expect(refusal(bearer(secret))).toEqual(refused)
  })
})

describe('a rotation', () => {
  test('a rotation leaves only the new secret valid', () => {
    const second = issue(holder)
    const third = issue(holder)
    expect(identify(bearer(third))).toBe(holder)
    expect(refusal(bearer(secret))).toEqual(refused)
    expect(refusal(bearer(second))).toEqual(refused)
  })

  test('a rotation does not affect other keys', () => {
    const other = newHolder()
    const theirs = issue(other)
    issue(holder)
    expect(identify(bearer(theirs))).toBe(other)
  })
})

test('putting an entry again with the same secret replaces the former one', () => {
  const renewed = { record: { ...holder.record, name: 'renewed' } }
  ring.put({ digest: digest.blake3Hex(secret) }, renewed)
  expect(identify(bearer(secret))).toBe(renewed)
})
