import { expect, test } from 'vitest'
import { parsed, rawAnswer } from './support/raw-client.ts'
import { served, stubGateway, text } from './support/stub-gateway.ts'

/*
 * A page sees why the host has refused its request only when the refusal is open to its origin.
 */

const app = 'https://app.example.com'

const head = (path: string, more: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\norigin: ${app}\r\n${more}connection: close\r\n\r\n`

async function allowedOrigin(corsOrigins: readonly string[], request: string) {
  const gateway = stubGateway(() => text('never'), { settings: { corsOrigins } })
  const { port } = await served(gateway)
  const { status, headers } = parsed(await rawAnswer(port, request))
  return [status, headers['access-control-allow-origin']]
}

test.each([
  ['a compressed body', head('/v1/rerank', 'content-encoding: gzip\r\n'), 415],
  ['a path that is none', head('/\\', ''), 400],
  ['an unknown expectation', head('/v1/rerank', 'expect: cake\r\n'), 417],
])('the error response to %s is readable for a listed origin', async (_, request, status) => {
  expect(await allowedOrigin([app], request)).toEqual([status, app])
  expect(await allowedOrigin(['https://other.example.com'], request)).toEqual([status, undefined])
})

test('the error for oversized headers is readable only if every origin is allowed', async () => {
  const request = head('/v1/rerank', `x: ${'y'.repeat(70_000)}\r\n`)
  expect(await allowedOrigin(['*'], request)).toEqual([431, '*'])
  expect(await allowedOrigin([app], request)).toEqual([431, undefined])
})

test('error responses of the admin API are never readable across origins', async () => {
  const request = head('/admin/keys', 'content-encoding: gzip\r\n')
  expect(await allowedOrigin(['*'], request)).toEqual([415, undefined])
})
