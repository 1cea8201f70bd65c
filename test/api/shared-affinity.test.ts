import { describe, expect, test } from 'vitest'
import { chatBody, makeRoute, takeCalls } from '../routing/support.ts'
import { completion } from '../support/answers.ts'
import { addCircuits } from '../support/circuits-model.ts'
import { createCrew } from '../support/crew.ts'
import { providerKey, testGateway } from '../support/gateway.ts'
import { gatewayGroup, type Member } from '../support/gateway-group.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { addParkings } from '../support/parkings-model.ts'
import { addPins } from '../support/pins-model.ts'
import { broken, json } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { SharedServer } from '../support/shared-server.ts'

const answer = json(completion())
const config = makeRoute({ weights: [1, 1, 1, 1] })

type Asked = Pick<Member, 'chat' | 'upstream'>

async function callOnce({ chat, upstream }: Asked, headers: object, name = 's'): Promise<string> {
  const init = { headers: { ...headers, 'x-gateway-session': name } }
  await (await chat(chatBody(), init)).text()
  await settled()
  const calls = takeCalls(upstream)
  expect(calls).not.toBe('')
  return calls
}

describe('the pins of processes that share their state', () => {
  async function pair() {
    const server = new SharedServer()
    let now = 0
    addCircuits(server, () => now)
    addParkings(server, () => now)
    addPins(server, () => now)
    const { open } = gatewayGroup(config, {
      server,
      env: { GATEWAY_MASTER_KEY: masterKey, P_KEY: providerKey },
    })
    const [first, second] = [await open(), await open()]
    for (const { upstream } of [first, second]) upstream.always(answer)
    const { headers } = await first.key()
    await second.clock.advance(1_000)
    const pass = async (time: number) => {
      now += time
      for (const { clock } of [first, second]) await clock.advance(time)
    }
    return { server, first, second, headers, pass }
  }

  test('a session stays where another process has served it', async () => {
    const { first, second, headers } = await pair()
    for (const name of ['1', '2', '3', '4', '5', '6']) {
      const served = await callOnce(first, headers, name)
      expect(await callOnce(second, headers, name)).toBe(served)
    }
  })

  test('a move of one is a move of all', async () => {
    const { first, second, headers } = await pair()
    const before = await callOnce(first, headers)
    second.upstream.next(broken())
    const [, after] = await callOnce(second, headers)
    expect(after).not.toBe(before)
    expect(await callOnce(first, headers)).toBe(after)
  })

  test('a session that one process serves stays known in the others', async () => {
    const { first, second, headers, pass } = await pair()
    const served = await callOnce(first, headers)
    for (let at = 0; at < 5; at++) {
      await pass(200_000)
      expect(await callOnce(first, headers)).toBe(served)
    }
    expect(await callOnce(second, headers)).toBe(served)
  })

  test('the key of a session without limits waits for no call', async () => {
    const { server, first, headers } = await pair()
    const release = server.hold()
    expect(await callOnce(first, headers)).toMatch(/^[abcd]$/)
    release()
    await settled()
    expect(server.calls.filter((name) => name.startsWith('pin'))).toEqual(['pin_write'])
  })

  test('while the server is away each process pins for itself', async () => {
    const { server, first, second, headers } = await pair()
    server.leave()
    const served = await callOnce(first, headers)
    expect(await callOnce(first, headers)).toBe(served)
    await callOnce(second, headers)
    server.comeBack()
    await settled()
    expect(await callOnce(first, headers)).toBe(served)
  })

  test('a session has no name on the server, only a hash', async () => {
    const { server, first, headers } = await pair()
    const sent: string[] = []
    const state = await server.open()
    state.subscribe('pins', (message) => sent.push(message))
    await callOnce(first, headers, 'canary-of-a-session')
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatch(/^[\da-f]{32} 1 300000 \["[abcd]",\[\]\]$/)
  })
})

describe('the pins of workers without a shared state', () => {
  test('a session stays where another worker has served it, and moves for all', async () => {
    const crew = createCrew(2).map((workers, at) =>
      testGateway(config, { workers, random: randomFrom(at) }),
    )
    const [first, second] = await Promise.all(crew)
    if (!first || !second) throw new Error('there are two')
    for (const { upstream } of [first, second]) upstream.always(answer)
    for (const name of ['1', '2', '3', '4', '5', '6']) {
      const served = await callOnce(first, {}, name)
      expect(await callOnce(second, {}, name)).toBe(served)
    }
    const before = await callOnce(first, {})
    second.upstream.next(broken())
    const after = (await callOnce(second, {})).at(-1)
    expect(after).not.toBe(before)
    expect(await callOnce(first, {})).toBe(after)
  })
})
