import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { checkRequestHead } from '../../../adapters/node/http/request-head.ts'
import { textTarget } from '../target.ts'

/** An accepted target is the path and query of a URL on any host, and an accepted Host is only a host. */
export const requestHead = textTarget({
  seeds: [
    '/v1/models?a=b gateway:8080',
    'http://a.test/v1 a.test',
    '* a',
    '/ [::1]:80',
    '/a%2F..%2Fb 1.2.3.4',
    '/ xn--bcher-kva.example',
  ],
  words: [
    '/',
    '//',
    '..',
    '%2e',
    '\\',
    '#',
    '?',
    '@',
    ':',
    '[',
    ']',
    ' ',
    'http://',
    'xn--',
    '.',
    '\u00e9',
  ],
  check(text) {
    const [url = '', host = ''] = text.split(' ', 2)
    // The parser of Node reads the head as Latin-1, and passes only what it accepts.
    const request = {
      method: 'GET',
      url,
      httpVersion: '1.1',
      headers: { host },
      rawHeaders: ['Host', host],
    } as IncomingMessage
    const head = checkRequestHead(request)
    if ('problem' in head) return assert.equal(head.problem.code, 'LM-1001')
    const onHost = new URL(`http://${host}${head.target}`)
    assert.equal(onHost.username + onHost.password + onHost.hash, '')
    const onGateway = new URL(`http://gateway${head.target}`)
    assert.equal(onHost.pathname + onHost.search, onGateway.pathname + onGateway.search)
    assert.equal(onHost.host, new URL(`http://${host}`).host)
    const [path = ''] = head.target.split('?', 1)
    if (!/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) {
      assert.equal(decodeLeniently(onGateway.pathname), decodeLeniently(path))
    }
  },
})

/** URLs encode a few characters of a path that clients may send plain. */
function decodeLeniently(path: string): string {
  return path.replaceAll(/%(?:22|3C|3E|5E|60|7B|7D|7C)/gi, (code) => decodeURIComponent(code))
}
