import { expect, test } from 'vitest'
import { configRoutes } from '../../src/admin/config.ts'
import type { ConfigFile } from '../../src/core/config-file.ts'
import { blake3Hex } from '../../src/wire/digest.ts'
import { adminContext } from '../support/admin-context.ts'
import { noAudit } from '../support/audit.ts'
import { testReloader } from '../support/config-reloader.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openBodyLimiter } from '../support/open-body-limiter.ts'

const encoder = new TextEncoder()

/** Opens the routes over a document that accepts everything but `bad`. */
async function openConfigRoutes(text = 'first') {
  const content = { bytes: encoder.encode(text) }
  const file: ConfigFile = {
    read: async () => content.bytes,
    stage: async (bytes) => ({
      commit: async () => {
        content.bytes = bytes.slice()
      },
      discard: async () => {},
    }),
  }
  const document = await testReloader({
    file,
    text,
    validate: async (candidate) =>
      candidate === 'bad'
        ? { ok: false, problems: [{ setting: 'server.port', line: 1, message: 'must not be 0' }] }
        : { ok: true },
  })
  const { GET, PUT } =
    configRoutes({
      audit: noAudit,
      document,
      clock: new ManualClock(),
      bodyLimit: () => 20,
      bodyLimiter: openBodyLimiter(),
    })['/admin/config'] ?? {}
  const call = async (method: 'GET' | 'PUT', init: RequestInit = {}) => {
    const request = new Request('http://gateway.test/admin/config', { method, ...init })
    const handle = method === 'GET' ? GET : PUT
    return handle?.({ request, params: {}, context: adminContext() })
  }
  return { call, text: () => new TextDecoder().decode(content.bytes) }
}

test('GET returns the exact text, its hash, and the hash as ETag', async () => {
  const { call } = await openConfigRoutes('# é\r\n')
  const hash = blake3Hex('# é\r\n')
  const reply = await call('GET')
  expect(reply).toMatchObject({
    status: 200,
    headers: ['content-type', 'application/json', 'content-length', '95', 'etag', `"${hash}"`],
  })
  expect(JSON.parse(new TextDecoder().decode(reply?.body as Uint8Array))).toEqual({
    config: '# é\r\n',
    hash,
  })
})

test('PUT replaces the file if the ETag of GET matches, and answers 204 with the new one', async () => {
  const { call, text } = await openConfigRoutes('first')
  const tag = (await call('GET'))?.headers.at(-1) ?? ''
  const reply = await call('PUT', {
    headers: { 'if-match': tag, 'content-type': 'application/json' },
    body: 'second',
  })
  expect(reply).toEqual({ status: 204, headers: ['etag', `"${blake3Hex('second')}"`], body: null })
  expect(text()).toBe('second')
})

test.each([
  ['without If-Match', {}, 'second', 'LM-1001'],
  ['under an old hash', { 'if-match': blake3Hex('before') }, 'second', 'LM-1004'],
  ['that is refused', { 'if-match': blake3Hex('first') }, 'bad', 'LM-1001'],
  ['without a body', { 'if-match': blake3Hex('first') }, null, 'LM-1001'],
  ['over the body limit', { 'if-match': blake3Hex('first') }, 'x'.repeat(21), 'LM-1002'],
])('a PUT %s changes nothing', async (_, headers, body, code) => {
  const { call, text } = await openConfigRoutes('first')
  await expect(call('PUT', { headers, body })).rejects.toMatchObject({ code })
  expect(text()).toBe('first')
})
