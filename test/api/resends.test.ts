import { describe, expect, test } from 'vitest'
import type { UpstreamRequest } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { broken, json, type Responder } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** Calls `mayResend`, as the port does when a connection is lost, then answers. */
function lostAtOnce(then: Responder, permissions: unknown[] = []): Responder {
  return (sent: UpstreamRequest) => {
    permissions.push(sent.mayResend?.())
    return then(sent)
  }
}

const lost = broken({ kind: 'network', reason: 'ECONNRESET', phase: 'waiting' })

const attemptsIn = ({ log }: TestGateway) =>
  log.filter(({ message }) => message === 'request').map(({ fields }) => fields['attempts'])

async function outcomesIn({ get }: TestGateway) {
  const text = await (await get('/metrics')).text()
  return series(text, 'gateway_upstream_attempts_total')
}

describe('a request resent on a new connection', () => {
  test('a resend uses up no attempt, and counts as a call in the log and in the metrics', async () => {
    const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 1'))
    gateway.upstream.next(lostAtOnce(json(completion())))
    expect((await gateway.chat(request)).status).toBe(200)
    expect(attemptsIn(gateway)).toEqual([2])
    const labels = { provider: 'p', model: 'm' }
    expect(await outcomesIn(gateway)).toEqual([
      { labels: { ...labels, outcome: 'resent' }, value: 1 },
      { labels: { ...labels, outcome: 'success' }, value: 1 },
    ])
  })

  test('a resend that fails counts as well', async () => {
    const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 1'))
    gateway.upstream.next(lostAtOnce(lost))
    expect((await gateway.chat(request)).status).toBe(502)
    expect(attemptsIn(gateway)).toEqual([2])
    expect((await outcomesIn(gateway)).map(({ labels }) => labels['outcome'])).toEqual([
      'resent',
      'network',
    ])
  })

  test('a later attempt is not resent', async () => {
    const permissions: unknown[] = []
    const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 3'))
    gateway.upstream.always(lostAtOnce(lost, permissions))
    const pending = gateway.chat(request)
    await gateway.clock.advance(10_000)
    expect((await pending).status).toBe(502)
    expect(permissions).toEqual([true, false, false])
    expect(attemptsIn(gateway)).toEqual([4])
  })

  test('the next provider of the chain may resend again', async () => {
    const permissions: unknown[] = []
    const gateway = await watchedGateway(makeChain([{}, {}], 'retry_max_attempts = 1'))
    gateway.upstream.next(
      lostAtOnce(lost, permissions),
      lostAtOnce(json(completion()), permissions),
    )
    expect((await gateway.chat(request)).status).toBe(200)
    expect(permissions).toEqual([true, true])
    expect(attemptsIn(gateway)).toEqual([4])
  })
})
