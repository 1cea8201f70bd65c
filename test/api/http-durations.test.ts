import { expect, test } from 'vitest'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, LiveUpstream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const name = 'gateway_http_request_duration_seconds'

/** Route, method, status and number of requests of each series. */
async function counts({ get }: Pick<TestGateway, 'get'>) {
  const text = await (await get('/metrics')).text()
  return series(text, `${name}_count`).map(({ labels, value }) => [
    labels['route'],
    labels['method'],
    labels['status'],
    value,
  ])
}

test('every route has its own label, for all parameters', async () => {
  const gateway = await watchedGateway()
  const { get, chat, upstream } = gateway
  upstream.next(json(completion()))
  await chat({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  await chat({ model: 'x', messages: [] })
  await get('/v1/models/m')
  await get('/v1/models/unknown-model')
  await get('/v1/models?limit=1')
  await get('/v1/models', { method: 'HEAD' })
  await get('/health', { method: 'DELETE' })
  await get('/health/')
  expect(await counts(gateway)).toEqual([
    ['/v1/chat/completions', 'POST', '200', 1],
    ['/v1/chat/completions', 'POST', '400', 1],
    ['/v1/models/{id}', 'GET', '200', 1],
    ['/v1/models/{id}', 'GET', '404', 1],
    ['/v1/models', 'GET', '200', 1],
    ['/v1/models', 'HEAD', '200', 1],
    ['/health', 'DELETE', '405', 1],
    ['/health', 'GET', '200', 1],
  ])
})

test('unknown paths and methods count as other', async () => {
  const gateway = await watchedGateway()
  for (const path of ['/canary-1', '/canary-2', '/v1/canary']) await gateway.get(path)
  await gateway.get('/health', { method: 'CANARY' })
  await gateway.get('/health', { method: 'CANARY2' })
  expect(await counts(gateway)).toEqual([
    ['other', 'GET', '404', 3],
    ['/health', 'other', '405', 2],
  ])
})

test('admin routes count too', async () => {
  const gateway = await keyedGateway()
  await gateway.admin('GET', '/admin/keys')
  await gateway.get('/admin/keys/abc')
  expect(await counts(gateway)).toEqual([
    ['/admin/keys', 'GET', '200', 1],
    ['/admin/keys/{id}', 'GET', '401', 1],
  ])
})

test('a request is measured to its answer, a stream to its beginning', async () => {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder)
  const pending = gateway.chat(streamed())
  await gateway.clock.advance(2_000)
  live.push(role + hello)
  const response = await pending
  await gateway.clock.advance(5_000)
  live.push(wholeStream)
  await response.text()
  const text = await (await gateway.get('/metrics')).text()
  expect(series(text, `${name}_sum`)).toMatchObject([{ value: 2 }])
  const buckets = series(text, `${name}_bucket`).map(({ labels, value }) => [labels['le'], value])
  expect(buckets.filter(([, value]) => value === 1).map(([le]) => le)).toEqual([
    '2.5',
    '5',
    '10',
    '30',
    '60',
    '120',
    '300',
    '+Inf',
  ])
})
