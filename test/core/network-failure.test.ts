import { expect, test } from 'vitest'
import { describeNetworkFailure, type NetworkFailure } from '../../src/core/network-failure.ts'

const problemOf = (failure: Omit<NetworkFailure, 'kind'>) =>
  describeNetworkFailure({ kind: 'network', ...failure })

test.each<readonly [Omit<NetworkFailure, 'kind'>, string]>([
  [{ reason: 'ENOTFOUND', phase: 'connecting' }, 'could not be reached (ENOTFOUND)'],
  [
    { reason: 'ERR_TLS_CERT_ALTNAME_INVALID', phase: 'connecting' },
    'could not be reached: its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
  ],
  [
    { reason: 'ECONNREFUSED', phase: 'connecting', proxy: 'proxy.test:3128' },
    'could not be reached through the proxy proxy.test:3128 (ECONNREFUSED)',
  ],
  [
    { reason: 'PROXY_407', phase: 'connecting', proxy: 'proxy.test:3128' },
    'could not be reached: the proxy proxy.test:3128 refused with status 407',
  ],
  [{ reason: 'EPIPE', phase: 'waiting' }, 'closed the connection before it answered (EPIPE)'],
  [
    { reason: 'EPIPE', phase: 'answering' },
    'closed the connection in the middle of its answer (EPIPE)',
  ],
  [{ reason: 'ECONNRESET' }, 'could not be reached or closed the connection (ECONNRESET)'],
])('a network failure is put into words: %j', (failure, words) => {
  expect(problemOf(failure)).toBe(words)
})

test('a reason that is not a code is not shown, because it might contain an address', () => {
  expect(problemOf({ reason: 'connect 10.0.0.1:443 failed', phase: 'connecting' })).toBe(
    'could not be reached',
  )
})
