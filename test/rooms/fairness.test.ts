import { describe, expect, test } from 'vitest'
import { HeldUpstream } from '../support/held-upstream.ts'
import { type ClientKey, keyedGateway, masterKey, prompt } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'

const config = (places: number) => `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
max_parallel = ${places}
queue_max = 1000
queue_ms = 600000
models = [{ id = "m", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`

async function open(places = 1) {
  const gateway = await keyedGateway(config(places))
  const held = new HeldUpstream(gateway.upstream)
  /** The names of the keys whose calls have ended, in their order. */
  const served: string[] = []
  const answers: Promise<void>[] = []
  return {
    ...gateway,
    held,
    served,
    /** Sends requests of a key, one behind the other. */
    async send(name: string, key: ClientKey, count = 1) {
      for (let left = count; left > 0; left--) {
        const answer = gateway.ask(key, prompt()).then(({ status }) => {
          served.push(status === 200 ? name : `${name}: ${status}`)
        })
        answers.push(answer)
        await settled()
      }
    },
    /** Ends one call after the other until none runs. */
    async finish() {
      while (held.running.length > 0) {
        held.answerFirst()
        await settled()
      }
      await Promise.all(answers)
      return served.join(' ')
    },
  }
}

describe('the order of those that wait', () => {
  test('keys have turns, so one that asks once waits for one call of each other key', async () => {
    const gateway = await open()
    const [a, b, c] = [await gateway.key(), await gateway.key(), await gateway.key()]
    await gateway.send('a', a, 6)
    await gateway.send('b', b, 2)
    await gateway.send('c', c, 1)
    expect(await gateway.finish()).toBe('a a b c a b a a a')
  })

  test('the keys of a group share its turn', async () => {
    const gateway = await open()
    const group_id = await gateway.group()
    const [a, b] = [await gateway.key({ group_id }), await gateway.key({ group_id })]
    const c = await gateway.key()
    await gateway.send('a', a, 3)
    await gateway.send('b', b, 2)
    await gateway.send('c', c, 2)
    expect(await gateway.finish()).toBe('a a c a c b b')
  })

  test('all of a priority go before the next one; that of a key counts before that of its group', async () => {
    const gateway = await open()
    const low = await gateway.group({ priority: 'low' })
    const batch = await gateway.key({ group_id: low })
    const urgent = await gateway.key({ group_id: low, priority: 'high' })
    const normal = await gateway.key()
    await gateway.send('normal', normal)
    await gateway.send('batch', batch, 2)
    await gateway.send('normal', normal, 2)
    await gateway.send('urgent', urgent, 2)
    expect(await gateway.finish()).toBe('normal urgent urgent normal normal batch batch')
  })

  test('a change of the priority counts for the next requests', async () => {
    const gateway = await open()
    const [a, b] = [await gateway.key(), await gateway.key()]
    await gateway.send('a', a, 3)
    await gateway.admin('PATCH', `/admin/keys/${b.id}`, { priority: 'high' })
    await gateway.send('b', b, 2)
    expect(await gateway.finish()).toBe('a b b a a')
  })

  test('a group that asks one at a time waits for at most two calls while another floods', async () => {
    const callTime = 100
    const places = 4
    const gateway = await open(places)
    const [flood, rare] = [await gateway.key(), await gateway.key()]
    await gateway.send('flood', flood, 200)
    const waits: number[] = []
    const step = async () => {
      for (const call of gateway.held.running.slice(0, places)) call.answer()
      await gateway.clock.advance(callTime)
    }
    for (let asked = 0; asked < 30; asked++) {
      const began = gateway.clock.elapsed()
      const answer = gateway.ask(rare, prompt())
      while (await isPending(answer)) await step()
      waits.push(gateway.clock.elapsed() - began - callTime)
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(2 * callTime)
    await gateway.finish()
    expect(gateway.held.peak).toBe(places)
  })

  test('the rows of requests that waited have queued_ms', async () => {
    const gateway = await open()
    const key = await gateway.key()
    await gateway.send('a', key, 2)
    await gateway.clock.advance(40)
    gateway.held.answerFirst()
    await settled()
    await gateway.finish()
    expect((await gateway.rows()).map(({ queuedMs }) => queuedMs)).toEqual([null, 40])
    const { body } = await gateway.admin('GET', '/admin/requests')
    expect(body['rows']).toMatchObject([{ queued_ms: 40 }, { queued_ms: null }])
    const exported = await gateway.get('/admin/usage/export', {
      headers: { authorization: `Bearer ${masterKey}` },
    })
    expect(await exported.text()).toContain('"queued_ms":40')
  })

  test.each(['urgent', 'HIGH', 1])('a priority of %j is refused', async (priority) => {
    const gateway = await open()
    expect((await gateway.admin('POST', '/admin/groups', { name: 'g', priority })).status).toBe(400)
    expect((await gateway.admin('POST', '/admin/keys', { name: 'k', priority })).status).toBe(400)
  })
})
