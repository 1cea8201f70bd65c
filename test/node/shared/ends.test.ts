import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openNodeSharedState } from '../../../adapters/node/ports/shared-state.ts'
import { type OpenSharedState, type SharedState, SharedStateFault } from '../../../src/index.ts'
import { completion, hello, role, wholeStream } from '../../support/answers.ts'
import { claudeMessage, claudeStream } from '../../support/claude-answers.ts'
import { textAnswer, textChunk, textUsageEvent } from '../../support/completions.ts'
import { vectors } from '../../support/embed.ts'
import { prompt, used } from '../../support/keyed-gateway.ts'
import { settled } from '../../support/manual-clock.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { json, LiveUpstream, type Responder, stream } from '../../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../../support/stream-client.ts'
import { served } from '../support/stub-gateway.ts'
import { type SharingGateway, SharingGateways } from './support.ts'

/*
 * A request that has ended holds nothing when the next one is admitted, at any gateway.
 */

/** Further models: `c` answers messages as they come, and `e` has embeddings. */
const furtherModels = `
[[providers]]
name = "q"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "e", capabilities = ["embed"], cost_per_1m_input = 1 }]
[[providers]]
name = "claude"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "c", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`

const messages = [{ role: 'user', content: 'Hi' }]

/** A state whose batched calls go another way. */
function replaceBatch(state: SharedState, batch: SharedState['batch']): SharedState {
  return new Proxy(state, {
    get(target, name) {
      if (name === 'batch') return batch
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

interface Asked {
  readonly path: string
  readonly body: object
  /** How the upstream answers. */
  readonly answer: Responder
  /** What the last bytes of the answer contain. */
  readonly last: string
}

const chat: Asked = {
  path: '/v1/chat/completions',
  body: { model: 'm', messages, max_tokens: 1 },
  answer: json(completion()),
  last: '"usage"',
}
const chatStream: Asked = {
  ...chat,
  body: { ...chat.body, stream: true },
  answer: stream([wholeStream]),
  last: '[DONE]',
}
const own: Asked = {
  path: '/v1/messages',
  body: { model: 'm', messages, max_tokens: 1 },
  answer: json(completion()),
  last: '"usage"',
}
const responses: Asked = {
  path: '/v1/responses',
  body: { model: 'c', input: 'Hi' },
  answer: claudeMessage(),
  last: '"usage"',
}

const answers: Readonly<Record<string, Asked>> = {
  'a whole chat completion': chat,
  'a stream of a chat completion': chatStream,
  'a whole text completion': {
    path: '/v1/completions',
    body: { model: 'm', prompt: 'Hi', max_tokens: 1 },
    answer: textAnswer(),
    last: '"usage"',
  },
  'a stream of a text completion': {
    path: '/v1/completions',
    body: { model: 'm', prompt: 'Hi', max_tokens: 1, stream: true },
    answer: stream([textChunk('a', 'stop'), textUsageEvent, 'data: [DONE]\n\n']),
    last: '[DONE]',
  },
  'a whole message that is translated': own,
  'a stream of a message that is translated': {
    ...own,
    body: { ...own.body, stream: true },
    answer: stream([wholeStream]),
    last: 'message_stop',
  },
  'a whole message as it comes': {
    ...own,
    body: { ...own.body, model: 'c' },
    answer: claudeMessage(),
  },
  'a stream of a message as it comes': {
    ...own,
    body: { ...own.body, model: 'c', stream: true },
    answer: claudeStream(),
    last: 'message_stop',
  },
  'a whole response': responses,
  'a stream of a response': {
    ...responses,
    body: { ...responses.body, stream: true },
    answer: claudeStream(),
    last: 'response.completed',
  },
  'a list of embeddings': {
    path: '/v1/embeddings',
    body: { model: 'e', input: 'Hi' },
    answer: vectors([[1, 2]], 3),
    last: '"usage"',
  },
  'an error of the upstream': {
    ...chat,
    answer: json({ error: { message: 'no' } }, { status: 400 }),
    last: 'LM-3003',
  },
  'an error of the upstream instead of a stream': {
    ...chatStream,
    answer: json({ error: { message: 'no' } }, { status: 400 }),
    last: 'LM-3003',
  },
  'a stream that breaks off': {
    ...chatStream,
    answer: stream([role + hello], { failure: { kind: 'closed-early' } }),
    last: 'LM-3010',
  },
}

const limits = {
  budget_max: { budget_max: 1 },
  tpm_limit: { tpm_limit: 100_000 },
  max_parallel: { max_parallel: 1 },
} as const

describe.skipIf(!hasRedis)('the end of a request with limits', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  /** Writes of this process: what each one contains, and where it goes. */
  function recordWrites(client: number) {
    const writes: { readonly to: 'server' | 'client'; readonly text: string }[] = []
    const { write } = Socket.prototype
    const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (
      this: Socket,
      ...args: readonly unknown[]
    ) {
      const [bytes] = args
      const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString()
      if (this.remotePort === redis.port) writes.push({ to: 'server', text })
      if (this.localPort === client) writes.push({ to: 'client', text })
      // The arguments of the method that is replaced.
      return Reflect.apply(write, this, args)
    })
    onTestFinished(() => spy.mockRestore())
    return writes
  }

  /** Returns where the settlement comes in the order of all writes, and where the last bytes do. */
  async function findOrder({ path, body, answer, last }: Asked, fields: object) {
    const gateways = new SharingGateways(redis, { config: furtherModels })
    const one = await gateways.open()
    const key = await gateways.key(fields)
    one.upstream.always(answer)
    // It is closed with the others.
    const hosted = await served({ ...one.gateway, close: async () => ({ rows: 0, spend: 0 }) })
    const writes = recordWrites(hosted.port)
    const response = await fetch(`${hosted.address}${path}`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify(body),
    })
    expect(await response.text()).toContain(last)
    const find = (to: string, text: string) =>
      writes.findLastIndex((write) => write.to === to && write.text.includes(text))
    return { end: find('server', '"settle",'), last: find('client', last) }
  }

  test.each(Object.keys(answers))('%s', async (name) => {
    const { end, last } = await findOrder(answers[name] as Asked, limits.budget_max)
    expect(last).toBeGreaterThan(0)
    expect(end).toBeGreaterThan(0)
    expect(end).toBeLessThan(last)
  })

  test.each(
    Object.entries(limits).flatMap(([limit, fields]) => [
      { limit, fields, form: 'whole', asked: chat },
      { limit, fields, form: 'streamed', asked: chatStream },
    ]),
  )('$limit, $form', async ({ fields, asked }) => {
    const { end, last } = await findOrder(asked, fields)
    expect(end).toBeGreaterThan(0)
    expect(end).toBeLessThan(last)
  })

  /** A request of 40 tokens, of which it uses 2: two of them at once pass the limits. */
  const large = { ...prompt(10, { max_tokens: 30 }) }
  const narrow = {
    budget_max: { budget_max: 0.00012 },
    tpm_limit: { tpm_limit: 70 },
    max_parallel: { max_parallel: 1 },
  } as const

  test.each(Object.entries(narrow))('is over for every gateway: %s', async (_, fields) => {
    const gateways = new SharingGateways(redis)
    const both = [await gateways.open(), await gateways.open()]
    const key = await gateways.key(fields)
    for (const { upstream } of both) upstream.always(used(1, 1))
    for (let at = 0; at < 12; at++) {
      const asked = await (both[at % 2] as SharingGateway).ask(key, large)
      expect([at, asked.status, asked.body['error']]).toEqual([at, 200, undefined])
    }
  })

  /** Gateways whose server reads what the first one sends at an end only after the next admission. */
  function readLate(): OpenSharedState {
    const late: (() => Promise<unknown>)[] = []
    let opened = 0
    return async (settings) => {
      const state = await openNodeSharedState(settings)
      const isFirst = opened++ === 0
      return replaceBatch(state, async (call) => {
        if (isFirst && call.name === 'settle') {
          return new Promise((resolve) => {
            late.push(async () => resolve(await state.batch(call)))
          })
        }
        const reply = await state.batch(call)
        if (!isFirst && call.name === 'admit') await Promise.all(late.splice(0).map((run) => run()))
        return reply
      })
    }
  }

  test.each(Object.entries(narrow))(
    'is over when the server reads the next request first: %s',
    async (_, fields) => {
      const config = '[webhooks]\nurl = "https://hooks.test"\nevents = ["budget.exhausted"]'
      const gateways = new SharingGateways(redis, { config, options: { openShared: readLate() } })
      const [first, second] = [await gateways.open(), await gateways.open()]
      const key = await gateways.key(fields)
      for (const { upstream } of gateways.all) upstream.always(used(1, 1))
      // The server learns of the key.
      expect((await second.ask(key, large)).status).toBe(200)
      expect((await first.ask(key, large)).status).toBe(200)
      expect((await second.ask(key, large)).status).toBe(200)
      await settled()
      const urls = gateways.all.flatMap(({ upstream }) => upstream.requests.map(({ url }) => url))
      expect(urls.filter((url) => url.includes('hooks.test'))).toEqual([])
    },
  )

  test('counts once while the server does not know of it: as spent, not as reserved', async () => {
    const openShared: OpenSharedState = async (settings) => {
      const state = await openNodeSharedState(settings)
      let isFirst = true
      return replaceBatch(state, async (call) => {
        if (call.name !== 'settle' || !isFirst) return state.batch(call)
        isFirst = false
        throw new SharedStateFault('the connection is slow')
      })
    }
    const gateways = new SharingGateways(redis, { options: { openShared } })
    const gateway = await gateways.open()
    const key = await gateways.key(narrow.budget_max)
    gateway.upstream.always(used(10, 30))
    expect((await gateway.ask(key, large)).status).toBe(200)
    const refused = await gateway.ask(key, large)
    expect(refused.body['error']).toMatchObject({
      code: 'LM-4001',
      budget_max: 0.00012,
      budget_spent: 0.00007,
      reserved: 0,
    })
    await gateway.clock.advance(7_500)
    await settled()
    await expect
      .poll(async () => (await gateways.show(key.id))[0])
      .toMatchObject({ budget_spent: 0.00007, budget_reserved: 0 })
  })

  test('is over when its client has left', async () => {
    const gateways = new SharingGateways(redis)
    const [first, second] = [await gateways.open(), await gateways.open()]
    const key = await gateways.key(narrow.max_parallel)
    const live = new LiveUpstream()
    first.upstream.next(live.responder)
    live.push(role + hello)
    const response = await first.chat(streamed(), { headers: key.headers })
    const reader = new StreamReader(response)
    await reader.next()
    await reader.leave()
    second.upstream.always(used(1, 1))
    expect((await second.ask(key, large)).status).toBe(200)
  })
})
