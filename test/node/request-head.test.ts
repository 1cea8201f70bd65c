import { describe, expect, test } from 'vitest'
import { parsed, rawAnswer, rawClient } from './support/raw-client.ts'
import { served, stubGateway, text } from './support/stub-gateway.ts'

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'",
}

describe('a request is rejected with 400 before it reaches the gateway', () => {
  test.each([
    ['no Host', 'GET / HTTP/1.1\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nhost: a\r\nHOST: b\r\n'],
    ['an empty Host', 'GET / HTTP/1.1\r\nhost:\r\n'],
    ['a Host that holds a path', 'GET /admin/keys HTTP/1.1\r\nhost: gw/health?\r\n'],
    ['a Host that holds a user', 'GET / HTTP/1.1\r\nhost: a@b\r\n'],
    ['a Host that holds a fragment', 'GET / HTTP/1.1\r\nhost: gw#\r\n'],
    ['a Host with a blank', 'GET / HTTP/1.1\r\nhost: a b\r\n'],
    ['a malformed Host under HTTP/1.0', 'GET / HTTP/1.0\r\nhost: gw/\r\n'],
    ['a Host that is no IPv4 address', 'GET / HTTP/1.1\r\nhost: 1.2.3.999\r\n'],
    ['a Host that ends in a number and a dot', 'GET / HTTP/1.1\r\nhost: a.3.\r\n'],
    ['a Host that ends in a hexadecimal number', 'GET / HTTP/1.1\r\nhost: a.0xf\r\n'],
    ['a Host of five numbers', 'GET / HTTP/1.1\r\nhost: 1.2.3.4.5\r\n'],
    ['a Host that is no IPv6 address', 'GET / HTTP/1.1\r\nhost: [::::]\r\n'],
    ['a Host with a broken punycode label', 'GET / HTTP/1.1\r\nhost: xn--a\r\n'],
    ['a Host with a port beyond 65535', 'GET / HTTP/1.1\r\nhost: a:99999\r\n'],
    ['an absolute target without a host', 'GET http:///health HTTP/1.1\r\nhost: a\r\n'],
    ['an absolute target that holds a user', 'GET http://a@b/ HTTP/1.1\r\nhost: a\r\n'],
    ['an absolute target with a bad host', 'GET http://1.2.3.999/ HTTP/1.1\r\nhost: a\r\n'],
    ['an absolute target of another scheme', 'GET ftp://a/ HTTP/1.1\r\nhost: a\r\n'],
    ['an absolute target without a Host', 'GET http://a/ HTTP/1.1\r\n'],
    ['a target without a leading slash', 'GET v1/models HTTP/1.1\r\nhost: a\r\n'],
    ['a target with a backslash', 'GET /\\elsewhere/ HTTP/1.1\r\nhost: a\r\n'],
    ['a target with a fragment', 'GET /admin#/health HTTP/1.1\r\nhost: a\r\n'],
    ['an asterisk', 'GET * HTTP/1.1\r\nhost: a\r\n'],
    ['a control byte', 'GET /a\x01b HTTP/1.1\r\nhost: a\r\n'],
    ['a byte beyond ASCII', 'GET /a\xffb HTTP/1.1\r\nhost: a\r\n'],
  ])('%s', async (_, head) => {
    const gateway = stubGateway(() => text('never'))
    const { port } = await served(gateway)
    const { status, headers, body } = parsed(
      await rawAnswer(port, `${head}connection: close\r\n\r\n`),
    )
    expect(status).toBe(400)
    expect(headers).toMatchObject(securityHeaders)
    expect(headers['content-type']).toBe('application/json')
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 'LM-1001',
        type: 'invalid_request',
        message: expect.any(String),
        param: null,
        request_id: headers['x-request-id'],
      },
    })
    expect(gateway.calls).toEqual([])
  })
})

describe('a request passes', () => {
  test.each([
    ['a name', 'GET /v1/models HTTP/1.1\r\nhost: gateway_1.internal-net\r\n'],
    ['a port', 'GET /v1/models HTTP/1.1\r\nhost: localhost:8080\r\n'],
    ['an IPv4 address', 'GET /v1/models HTTP/1.1\r\nhost: 192.0.2.1:80\r\n'],
    ['a name of digits', 'GET /v1/models HTTP/1.1\r\nhost: 1a.2b:80\r\n'],
    ['a punycode label', 'GET /v1/models HTTP/1.1\r\nhost: xn--bcher-kva.example\r\n'],
    ['an IPv6 address', 'GET /v1/models HTTP/1.1\r\nhost: [::1]:8080\r\n'],
    ['no Host under HTTP/1.0', 'GET /v1/models HTTP/1.0\r\n'],
    ['an absolute target', 'GET http://elsewhere:1/v1/models HTTP/1.1\r\nhost: a\r\n'],
    ['an absolute target in capitals', 'GET HTTPS://B/v1/models HTTP/1.1\r\nhost: a\r\n'],
    ['an odd query', 'GET /v1/models?q="<a>|^`{}%00 HTTP/1.1\r\nhost: a\r\n'],
    [
      'an offer of HTTP/2',
      'GET /v1/models HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nconnection: upgrade\r\n',
    ],
  ])('a request with %s passes', async (_, head) => {
    const gateway = stubGateway(() => text('answer'))
    const { port } = await served(gateway)
    const answer = parsed(await rawAnswer(port, `${head}connection: close\r\n\r\n`))
    expect(answer).toMatchObject({ status: 200, body: 'answer' })
    expect(gateway.calls).toEqual(['GET /v1/models'])
  })

  test.each([
    ['http://elsewhere', 'GET /'],
    ['http://elsewhere?a=b', 'GET /?a=b'],
    ['http://[::1]:80/a%2Fb?c=http://d/', 'GET /a%2Fb?c=http://d/'],
    ['//elsewhere/v1', 'GET //elsewhere/v1'],
  ])('a request with the target %s passes, as %s', async (target, seen) => {
    const gateway = stubGateway(({ method, url }) =>
      text(`${method} ${url.replace('http://gateway', '')}`),
    )
    const { port } = await served(gateway)
    const head = `GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`
    expect(parsed(await rawAnswer(port, head))).toMatchObject({ status: 200, body: seen })
  })

  test('a request with a body and an offer of HTTP/2 passes', async () => {
    const gateway = stubGateway(async (request) => text(`got ${await request.text()}`))
    const { port } = await served(gateway)
    const head = 'POST / HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n'
    const answer = parsed(await rawAnswer(port, `${head}content-length: 4\r\n\r\nbody`))
    expect(answer).toMatchObject({ status: 200, body: 'got body' })
  })
})

test('OPTIONS * is answered by the host, with the methods of all routes', async () => {
  const gateway = stubGateway(() => text('never'))
  const { port } = await served(gateway)
  const client = rawClient(port)
  client.send('OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n')
  const { status, headers, body } = parsed(await client.until('\r\n\r\n'))
  expect({ status, body }).toEqual({ status: 204, body: '' })
  expect(headers).toMatchObject({
    ...securityHeaders,
    allow: 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'x-request-id': expect.any(String),
  })
  expect(gateway.calls).toEqual([])
  client.send('OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n')
  await client.until(/204[^]*204/)
})

describe('an error response of the host', () => {
  test('an error response has the request id of the client', async () => {
    const { port } = await served(stubGateway(() => text('never')))
    const { headers } = parsed(
      await rawAnswer(port, 'GET / HTTP/1.1\r\nx-request-id: my-id_1\r\nconnection: close\r\n\r\n'),
    )
    expect(headers['x-request-id']).toBe('my-id_1')
  })

  test('an error response has a new request id instead of an invalid one', async () => {
    const { port } = await served(stubGateway(() => text('never')))
    const { headers } = parsed(
      await rawAnswer(port, 'GET / HTTP/1.1\r\nx-request-id: a b\r\nconnection: close\r\n\r\n'),
    )
    expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  })

  test('a compressed body is rejected with 415', async () => {
    const gateway = stubGateway(() => text('never'))
    const { address } = await served(gateway)
    const response = await fetch(address, {
      method: 'POST',
      body: 'x',
      headers: { 'content-encoding': 'gzip' },
    })
    expect(response.status).toBe(415)
    expect(await response.json()).toMatchObject({ error: { code: 'LM-1001' } })
    expect(gateway.calls).toEqual([])
  })

  test('a body with content-encoding identity passes', async () => {
    const { address } = await served(stubGateway(() => text('answer')))
    const headers = { 'content-encoding': 'Identity' }
    expect((await fetch(address, { method: 'POST', body: 'x', headers })).status).toBe(200)
  })
})
