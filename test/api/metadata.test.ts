import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

async function rejected({ get }: TestGateway): Promise<number> {
  const [sample] = series(await (await get('/metrics')).text(), 'gateway_metadata_rejected_total')
  return sample?.value ?? Number.NaN
}

/** Sends a request with these headers; returns its logged metadata and the count of rejections. */
async function readMetadata(headers: HeadersInit) {
  const gateway = await watchedGateway()
  gateway.upstream.next(json(completion()))
  const response = await gateway.chat(request, { headers })
  expect(response.status).toBe(200)
  return { metadata: settlement(gateway.log)['metadata'], rejected: await rejected(gateway) }
}

/** Encodes a value as JSON in UTF-8; in a header value each byte is one character. */
const asHeader = (value: unknown) =>
  String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value)))

/** An object with this many keys. */
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))

describe('valid metadata keeps its types', () => {
  test.each([
    ['strings, numbers and booleans', { team: 'a', n: 1.5, big: -1e21, yes: true, no: false }],
    ['an empty object', undefined, {}],
    ['an empty key and an empty value', { '': '' }],
    ['16 keys', keys(16)],
    ['a key of 64 bytes', { ['k'.repeat(64)]: 1 }],
    ['a key of 64 bytes in 32 letters', { ['é'.repeat(32)]: 1 }],
    ['a value of 256 bytes', { k: 'v'.repeat(256) }],
    ['a value of 256 bytes in 64 letters', { k: '🦆'.repeat(64) }],
    ['letters of every script', { equipe: 'żółć 世界' }],
    ['keys of Object.prototype', { constructor: 'x', toString: 1 }],
  ])('%s', async (_, expected, sent: object = expected ?? {}) => {
    const reading = await readMetadata({ 'x-gateway-metadata': asHeader(sent) })
    expect(reading).toEqual({ metadata: expected, rejected: 0 })
  })

  test('a header of up to 4 KiB is accepted', async () => {
    const sent = asHeader({ k: 1 })
    const padded = `${sent.slice(0, -1).padEnd(4095, ' ')}}`
    expect(await readMetadata({ 'x-gateway-metadata': padded })).toEqual({
      metadata: { k: 1 },
      rejected: 0,
    })
  })

  test('metadata is also read from the alternative header', async () => {
    const reading = await readMetadata({ 'cf-aig-metadata': '{"k":1}' })
    expect(reading).toEqual({ metadata: { k: 1 }, rejected: 0 })
  })

  test('the gateway’s own header wins over the alternative one', async () => {
    const headers = { 'cf-aig-metadata': '{"k":1}', 'x-gateway-metadata': '{"k":2}' }
    expect(await readMetadata(headers)).toEqual({ metadata: { k: 2 }, rejected: 0 })
  })
})

describe('invalid metadata is dropped and counted, and the request is served', () => {
  test.each([
    ['nothing', ''],
    ['text that is not JSON', 'team=a'],
    ['truncated', '{"k":1'],
    ['null', 'null'],
    ['a string', '"k"'],
    ['a number', '1'],
    ['an array', '[1]'],
    ['nested', '{"k":{"a":1}}'],
    ['an array as a value', '{"k":[1]}'],
    ['null as a value', '{"k":null}'],
    ['a number beyond the range of a double', '{"k":1e400}'],
    ['17 keys', asHeader(keys(17))],
    ['a key of 65 bytes', asHeader({ ['k'.repeat(65)]: 1 })],
    ['a key of 66 bytes in 33 letters', asHeader({ ['é'.repeat(33)]: 1 })],
    ['a value of 257 bytes', asHeader({ k: 'v'.repeat(257) })],
    ['a value of 258 bytes in 129 letters', asHeader({ k: 'é'.repeat(129) })],
    ['one good value and one bad', '{"a":1,"b":[]}'],
    ['more than 4 KiB', `{"k":1${' '.repeat(4090)}}`],
    ['not UTF-8', '{"k":"\u00ff"}'],
    ['two headers in one', '{"k":1}, {"k":2}'],
  ])('%s', async (_, header) => {
    expect(await readMetadata({ 'x-gateway-metadata': header })).toEqual({
      metadata: undefined,
      rejected: 1,
    })
  })

  test.each([
    ['not JSON', 'team=canary', 'the header is not JSON in UTF-8'],
    ['a byte order mark', '\u00ef\u00bb\u00bf{}', 'the header is not JSON in UTF-8'],
    ['a list', '["canary"]', 'the header is not a JSON object'],
    ['too long', `{"canary":1${' '.repeat(4090)}}`, 'the header is longer than 4096 bytes'],
    ['too many keys', asHeader({ canary: 1, ...keys(16) }), 'it has more than 16 keys'],
    ['a long key', asHeader({ ['canary'.repeat(20)]: 1 }), 'a key is longer than 64 bytes'],
    ['a long value', asHeader({ k: 'canary'.repeat(50) }), 'a value is longer than 256 bytes'],
    ['a list as a value', '{"k":["canary"]}', 'a value is not a string, a number or a boolean'],
  ])('a log line says why, without the content: %s', async (_, header, reason) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(json(completion()))
    const headers = { 'x-gateway-metadata': header, 'x-request-id': 'r1' }
    await gateway.chat(request, { headers })
    expect(gateway.log[0]).toEqual({
      level: 'debug',
      message: 'metadata rejected',
      fields: { request_id: 'r1', reason },
    })
    expect(JSON.stringify(gateway.log)).not.toContain('canary')
  })

  test('the alternative header does not replace an invalid one', async () => {
    const headers = { 'x-gateway-metadata': 'bad', 'cf-aig-metadata': '{"k":1}' }
    expect(await readMetadata(headers)).toEqual({ metadata: undefined, rejected: 1 })
  })

  test('invalid metadata is counted even when the request is refused', async () => {
    const gateway = await watchedGateway()
    const response = await gateway.chat({}, { headers: { 'x-gateway-metadata': 'bad' } })
    expect(response.status).toBe(400)
    expect(await rejected(gateway)).toBe(1)
  })
})

test('absent metadata does not count as rejected', async () => {
  expect(await readMetadata({})).toEqual({ metadata: undefined, rejected: 0 })
})
