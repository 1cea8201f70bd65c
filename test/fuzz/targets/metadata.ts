import assert from 'node:assert/strict'
import { readMetadata } from '../../../src/data-plane/request/metadata.ts'
import type { FuzzTarget } from '../target.ts'

/** Accepted metadata is the JSON of the header, within the limits. A refusal does not quote the header. */
export const metadata: FuzzTarget = {
  seeds: ['{"team":"search","n":1,"b":true}', '{"é":"ż"}', '{"a":{}}', '[]', '{"a":1e400}'],
  words: [
    '"a":',
    '{"',
    '"}',
    ',',
    'true',
    'null',
    '1e400',
    '[]',
    '"__proto__":',
    '\\ud800',
    '\uFEFF',
  ],
  check(input) {
    const header = Buffer.from(input)
      .toString('latin1')
      .replaceAll(/[\0\r\n]/g, ' ')
    const result = readMetadata(new Headers({ 'x-gateway-metadata': header }))
    switch (result.state) {
      case 'absent':
        return assert.fail('the header was sent')
      case 'rejected':
        return assert.match(result.reason, /^(?:the header|it has|a key|a value)/)
      case 'accepted': {
        const sent: unknown = JSON.parse(Buffer.from(header, 'latin1').toString())
        assert.deepEqual(result.metadata, sent)
        const entries = Object.entries(result.metadata)
        assert.ok(entries.length <= 16)
        for (const [key, value] of entries) {
          assert.ok(Buffer.byteLength(key) <= 64 && Buffer.byteLength(String(value)) <= 256)
          assert.ok(['string', 'number', 'boolean'].includes(typeof value))
        }
      }
    }
  },
}
