import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/core/provider.ts'
import type { ModelRoute } from '../../src/core/route.ts'
import { Affinity } from '../../src/routing/index.ts'
import { simulateAgents } from '../support/agents.ts'
import { completion, wholeStream } from '../support/answers.ts'
import { byProvider } from '../support/chain.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway, masterKey } from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken, json, stream } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'
import {
  answer as answerOfKeys,
  byVariable,
  env,
  listVariables,
  provider,
  refuse,
  request,
  withFallback,
} from '../support/several-keys.ts'
import { watchedGateway } from '../support/watched-gateway.ts'
import { chatBody, makeRoute, takeCalls } from './support.ts'

const answer = json(completion())
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
const session = (name: string, header = 'x-gateway-session') => ({ headers: { [header]: name } })
const settings = (more: string, route = makeRoute()) =>
  route.replace('strategy =', `${more}\nstrategy =`)

/** Sends a request some times, and returns the providers that were called. */
async function callsOf(
  { chat, upstream }: TestGateway,
  { body = chatBody(), init = {}, times = 8 }: AskOptions = {},
): Promise<string> {
  for (let at = 0; at < times; at++) await (await chat(body, init)).text()
  return takeCalls(upstream)
}

interface AskOptions {
  readonly body?: object
  readonly init?: RequestInit
  readonly times?: number
}

async function open(config = makeRoute(), seed = 7) {
  const gateway = await watchedGateway(config, { random: randomFrom(seed) })
  gateway.upstream.always(answer)
  return gateway
}

async function results({ get }: Pick<TestGateway, 'get'>) {
  const metrics = await (await get('/metrics')).text()
  const found = series(metrics, 'gateway_affinity_total')
  return Object.fromEntries(found.map(({ labels, value }) => [labels['result'], value]))
}

const same = /^(\w)\1{7}$/

describe('what names a session', () => {
  test.each([
    'x-gateway-session',
    'x-claude-code-session-id',
    'session_id',
    'session-id',
    'x-session-id',
    'x-session-affinity',
  ])('the header %s', async (header) => {
    const gateway = await open()
    expect(await callsOf(gateway)).not.toMatch(same)
    for (const name of ['one', 'two', 'three']) {
      expect(await callsOf(gateway, { init: session(name, header) })).toMatch(same)
    }
  })

  test('sessions spread over the targets', async () => {
    const gateway = await open()
    const firsts = new Set<string>()
    for (let at = 0; at < 20; at++) {
      firsts.add(await callsOf(gateway, { init: session(`s${at}`), times: 1 }))
    }
    expect([...firsts].sort()).toEqual(['a', 'b', 'c'])
  })

  test('an earlier header counts before a later one, and every header before the body', async () => {
    const gateway = await open()
    const pinned = await callsOf(gateway, { init: session('mine') })
    const headers = { 'x-gateway-session': 'mine', 'x-session-id': 'other' }
    expect(await callsOf(gateway, { init: { headers } })).toBe(pinned)
    const body = chatBody({ prompt_cache_key: 'a key' })
    expect(await callsOf(gateway, { body, init: session('mine') })).toBe(pinned)
    expect(await results(gateway)).toEqual({ new: 1, hit: 23 })
  })

  test.each([
    ['/v1/chat/completions', chatBody({ prompt_cache_key: 'k' })],
    // A member in another letter case makes the gateway parse the request.
    ['/v1/chat/completions', chatBody({ prompt_cache_key: 'k', Tools: null })],
    ['/v1/completions', { model: 'r', prompt: 'x', prompt_cache_key: 'k' }],
    ['/v1/responses', { model: 'r', input: 'x', prompt_cache_key: 'k' }],
    ['/v1/responses', { model: 'r', input: 'x', prompt_cache_key: 'k', Tools: null }],
    ['/v1/messages', { ...chatBody(), max_tokens: 9, metadata: { user_id: 'k' } }],
    ['/v1/messages', { ...chatBody({ Tools: null }), max_tokens: 9, metadata: { user_id: 'k' } }],
  ])('the body of %s', async (path, body) => {
    const { get, upstream } = await open()
    upstream.always(json({ ...completion(), choices: [{ ...choice, text: 'Hi' }] }))
    const send = async (given: object) => {
      for (let at = 0; at < 8; at++) {
        await (await get(path, { method: 'POST', body: JSON.stringify(given) })).text()
      }
      return takeCalls(upstream)
    }
    expect(await send(body)).toMatch(same)
    const {
      prompt_cache_key: _,
      metadata: __,
      ...nameless
    } = { ...body } as Record<string, unknown>
    expect(await send(nameless)).not.toMatch(same)
  })

  test.each([5, '', null, ['k'], { key: 'k' }])('a key that is %j names none', async (key) => {
    const gateway = await open()
    const body = chatBody({ prompt_cache_key: key })
    expect(await callsOf(gateway, { body })).not.toMatch(same)
    expect(await results(gateway)).toEqual({})
  })

  test('the session of another key or group is another one', async () => {
    const gateway = await keyedGateway(makeRoute({ weights: [1, 1, 1, 1] }), {
      random: randomFrom(3),
    })
    gateway.upstream.always(answer)
    const group = await gateway.admin('POST', '/admin/groups', { name: 'g' })
    const alone = await gateway.key()
    const pair = [1, 2].map(() => gateway.key({ group_id: group.body['id'] }))
    const [first, second] = await Promise.all(pair)
    const firstCall = async (key: { headers: object } | undefined) => {
      const headers = { ...key?.headers, ...session('same').headers }
      await callsOf(gateway, { init: { headers }, times: 1 })
    }
    await firstCall(alone)
    await firstCall(first)
    await firstCall(second)
    expect(await results(gateway)).toEqual({ new: 2, hit: 1 })
  })
})

describe('the beginning of the prompt', () => {
  const prefix = settings('affinity = "prefix"')
  const long = (text: string) => `${text} ${'word '.repeat(900)}`
  const turns = (...contents: unknown[]) => ({
    messages: contents.map((content, at) => ({
      role: at === 0 ? 'system' : at % 2 === 1 ? 'user' : 'assistant',
      content,
    })),
  })

  test('keeps the turns of a conversation together, and spreads conversations', async () => {
    const gateway = await open(prefix)
    const targets = new Set<string>()
    for (let at = 0; at < 12; at++) {
      const first = turns(long('system'), `question ${at}`)
      const target = await callsOf(gateway, { body: chatBody(first), times: 1 })
      const second = turns(long('system'), `question ${at}`, 'answer', 'next')
      expect(await callsOf(gateway, { body: chatBody(second), times: 1 })).toBe(target)
      targets.add(target)
    }
    expect([...targets].sort()).toEqual(['a', 'b', 'c'])
    expect(await results(gateway)).toEqual({ new: 12, hit: 12 })
  })

  test('counts without the marks of caches, which move', async () => {
    const gateway = await open(prefix)
    const part = { type: 'text', text: long('x') }
    const marked = { ...part, cache_control: { type: 'ephemeral' } }
    await callsOf(gateway, { body: chatBody(turns('s', [marked])), times: 1 })
    await callsOf(gateway, { body: chatBody(turns('s', [part], 'a', [marked])), times: 1 })
    expect(await results(gateway)).toEqual({ new: 1, hit: 1 })
  })

  test.each([
    ['a short prompt', turns('system', 'question')],
    ['a long later turn', turns('system', 'question', long('answer'), long('next'))],
  ])('%s is not kept', async (_, more) => {
    const gateway = await open(prefix)
    expect(await callsOf(gateway, { body: chatBody(more) })).not.toMatch(same)
    expect(await results(gateway)).toEqual({})
  })

  test('a long prompt alone names no session by default', async () => {
    const gateway = await open()
    await callsOf(gateway, { body: chatBody(turns(long('system'), 'x')) })
    expect(await results(gateway)).toEqual({})
  })

  test.each([
    ['/v1/messages', { max_tokens: 9, system: long('s'), ...turns().messages }, 'messages'],
    ['/v1/responses', { instructions: long('s') }, 'input'],
  ])('of %s', async (path, more, member) => {
    const { get, upstream } = await open(prefix)
    const user = { role: 'user', content: 'Hi' }
    const assistant = { role: 'assistant', content: 'Hello' }
    for (const messages of [[user], [user, assistant, user]]) {
      const body = JSON.stringify({ model: 'r', ...more, [member]: messages })
      await (await get(path, { method: 'POST', body })).text()
    }
    expect(takeCalls(upstream)).toMatch(/^(\w)\1$/)
  })
})

describe('what a pin does', () => {
  test('the next target takes over when the pinned one fails, and is the pin then', async () => {
    const gateway = await open(makeRoute({ weights: [1, 1] }))
    const first = await callsOf(gateway, { init: session('s'), times: 1 })
    const other = first === 'a' ? 'b' : 'a'
    byProvider(gateway.upstream, { [first]: broken(), [other]: answer })
    expect(await callsOf(gateway, { init: session('s'), times: 1 })).toBe(first + other)
    byProvider(gateway.upstream, { a: answer, b: answer })
    expect(await callsOf(gateway, { init: session('s') })).toBe(other.repeat(8))
    expect(await results(gateway)).toEqual({ new: 1, moved: 1, hit: 8 })
  })

  test('an open circuit sends the session elsewhere without a call', async () => {
    const resilience = 'retry_max_attempts = 1\ncircuit_failure_threshold = 1'
    const gateway = await open(makeRoute({ weights: [1, 1], resilience }))
    const first = await callsOf(gateway, { init: session('s'), times: 1 })
    const other = first === 'a' ? 'b' : 'a'
    byProvider(gateway.upstream, { [first]: broken(), [other]: answer })
    for (const name of ['1', '2', '3', '4'])
      await callsOf(gateway, { init: session(name), times: 1 })
    expect(await callsOf(gateway, { init: session('s'), times: 2 })).toBe(other.repeat(2))
    await gateway.clock.advance(60_000)
    expect(await callsOf(gateway, { init: session('s'), times: 2 })).toBe(other.repeat(2))
  })

  test('a fallback serves while the targets are away, and the session returns', async () => {
    const gateway = await open(makeRoute({ weights: [1, 1], hasFallback: true }))
    const first = await callsOf(gateway, { init: session('s'), times: 1 })
    byProvider(gateway.upstream, { a: broken(), b: broken(), z: answer })
    expect((await callsOf(gateway, { init: session('s'), times: 1 })).at(-1)).toBe('z')
    byProvider(gateway.upstream, { a: answer, b: answer })
    expect(await callsOf(gateway, { init: session('s') })).toBe(first.repeat(8))
    expect(await results(gateway)).toEqual({ new: 1, moved: 1, hit: 8 })
  })

  test('a target with weight 0 is never the first choice', async () => {
    const gateway = await open(makeRoute({ weights: [1, 1, 0] }))
    byProvider(gateway.upstream, { a: broken(), b: broken(), c: answer })
    await callsOf(gateway, { init: session('s'), times: 1 })
    gateway.upstream.always(answer)
    expect(await callsOf(gateway, { init: session('s') })).not.toContain('c')
  })

  test('a call that began before the pin moved does not take it back', async () => {
    const gateway = await open(makeRoute({ weights: [1, 1] }))
    const first = await callsOf(gateway, { init: session('s'), times: 1 })
    const other = first === 'a' ? 'b' : 'a'
    let answerLate = () => {}
    const isDue = new Promise<void>((resolve) => {
      answerLate = resolve
    })
    gateway.upstream.next((call) => isDue.then(() => answer(call)))
    const early = gateway.chat(chatBody(), session('s'))
    byProvider(gateway.upstream, { [first]: broken(), [other]: answer })
    await callsOf(gateway, { init: session('s'), times: 1 })
    answerLate()
    await (await early).text()
    gateway.upstream.requests.length = 0
    gateway.upstream.always(answer)
    expect(await callsOf(gateway, { init: session('s') })).toBe(other.repeat(8))
  })

  test('a stream is pinned by its first content', async () => {
    const gateway = await open()
    gateway.upstream.always(stream([wholeStream]))
    const body = chatBody({ stream: true })
    expect(await callsOf(gateway, { body, init: session('s') })).toMatch(same)
  })

  test.each(['fastest', 'least_busy'])('it comes before the strategy %s', async (strategy) => {
    const gateway = await open(makeRoute({ strategy }))
    expect(await callsOf(gateway, { init: session('s') })).toMatch(same)
  })

  test('the cheapest target is chosen for each request, unless the route says otherwise', async () => {
    const cheapest = makeRoute({ strategy: 'cheapest' })
    const gateway = await open(cheapest)
    expect(await callsOf(gateway, { init: session('s') })).not.toMatch(same)
    const pinning = await open(settings('affinity = true', cheapest))
    expect(await callsOf(pinning, { init: session('s') })).toMatch(same)
  })

  test('`affinity = false` turns it off', async () => {
    const gateway = await open(settings('affinity = false'))
    expect(await callsOf(gateway, { init: session('s') })).not.toMatch(same)
    expect(await results(gateway)).toEqual({})
  })

  test('embeddings are not pinned: they have no cache of prompts', async () => {
    const both = 'capabilities = ["chat", "embed"]'
    const gateway = await open(makeRoute({ models: [both, both, both] }))
    const vectors = { data: [{ index: 0, embedding: [1] }], usage: { total_tokens: 1 } }
    gateway.upstream.always(json(vectors))
    const body = JSON.stringify({ model: 'r', input: 'x' })
    for (let at = 0; at < 8; at++) {
      await gateway.get('/v1/embeddings', { method: 'POST', body, ...session('s') })
    }
    expect(takeCalls(gateway.upstream)).not.toMatch(same)
  })
})

describe('how long a pin lasts', () => {
  const ask = (gateway: TestGateway, body = chatBody()) =>
    callsOf(gateway, { body, init: session('s'), times: 1 })

  test('300 seconds after the last request', async () => {
    const gateway = await open()
    await ask(gateway)
    for (let at = 0; at < 3; at++) {
      await gateway.clock.advance(299_999)
      await ask(gateway)
    }
    await gateway.clock.advance(300_000)
    await ask(gateway)
    expect(await results(gateway)).toEqual({ new: 2, hit: 3 })
  })

  test('as long as the route says', async () => {
    const gateway = await open(settings('affinity_ttl_seconds = 2'))
    await ask(gateway)
    await gateway.clock.advance(1_999)
    await ask(gateway)
    await gateway.clock.advance(2_000)
    await ask(gateway)
    expect(await results(gateway)).toEqual({ new: 2, hit: 1 })
  })

  test('an hour when the request marks its prompt for an hour', async () => {
    const gateway = await open()
    const mark = { type: 'ephemeral', ttl: '1h' }
    const content = [{ type: 'text', text: 'x', cache_control: mark }]
    const body = chatBody({ messages: [{ role: 'user', content }] })
    await ask(gateway, body)
    await gateway.clock.advance(3_599_999)
    await ask(gateway, body)
    expect(await results(gateway)).toEqual({ new: 1, hit: 1 })
  })

  test('a reload keeps the pins, and a target that is gone has none', async () => {
    const gateway = await reloadingGateway(makeRoute(), { random: randomFrom(5) })
    const { headers } = await gateway.key()
    gateway.upstream.always(answer)
    const init = { headers: { ...headers, ...session('s').headers } }
    const first = await callsOf(gateway, { init, times: 1 })
    await gateway.change(makeRoute().replace('weight = 1', 'weight = 2'))
    expect(await callsOf(gateway, { init })).toBe(first.repeat(8))
    const gone = new RegExp(`\\{ model = "${first}", weight = \\d \\}(?:, )?`)
    await gateway.change(makeRoute().replace(gone, '').replace(', ]', ']'))
    const others = await callsOf(gateway, { init })
    expect(others).toMatch(same)
    expect(others).not.toContain(first)
  })

  test('100,000 are kept: the one that was not used for longest goes first', () => {
    const counted: string[] = []
    const affinity = new Affinity({
      clock: new ManualClock(),
      onResult: (result) => counted.push(result),
      maxPins: 3,
    })
    const policy = { mode: 'session', ttl: 300_000 } as const
    const targets = ['a', 'b'].map((id) => ({
      // Only these members are read.
      model: { id, provider: { name: id, usable: [], affinity: policy } } as unknown as Model,
      weight: 1,
    }))
    const route = {
      id: 'r',
      affinity: { targets: policy, byPrefix: false },
      balance: { targets },
    } as unknown as ModelRoute
    const serve = (name: string) => {
      const named = { kind: 'session', name, keepsLong: false } as const
      const [first] = targets
      if (first) affinity.open({ route, account: '', named }).serve(first.model, undefined)
    }
    for (const name of ['1', '2', '3', '1', '4', '1', '3', '2']) serve(name)
    expect(counted).toEqual(['new', 'new', 'new', 'hit', 'new', 'hit', 'hit', 'new'])
    expect(affinity.size).toBe(3)
  })
})

describe('several keys of one provider', () => {
  const keys = async (config = provider(), times = 6, init: RequestInit = session('s')) => {
    const gateway = await watchedGateway(config, { env })
    gateway.upstream.always(answerOfKeys)
    const send = async (more = times) => {
      gateway.upstream.requests.length = 0
      for (let at = 0; at < more; at++) await (await gateway.chat(request, init)).text()
      return listVariables(gateway.upstream).join('')
    }
    return { gateway, send }
  }

  test('a session stays at its key, and the others take turns', async () => {
    const { gateway, send } = await keys()
    expect(await send()).toBe('AAAAAA')
    const firsts = []
    for (let at = 0; at < 4; at++) {
      gateway.upstream.requests.length = 0
      await gateway.chat(request, session(`other ${at}`))
      firsts.push(listVariables(gateway.upstream)[0])
    }
    expect(firsts).toEqual(['B', 'A', 'B', 'A'])
    expect(await send()).toBe('AAAAAA')
  })

  test('a parked key is left for another one, which is the pin then', async () => {
    const { gateway, send } = await keys()
    expect(await send(1)).toBe('A')
    byVariable(gateway.upstream, { A: refuse(429, { 'retry-after': '20' }) })
    expect(await send(1)).toBe('AB')
    gateway.upstream.always(answerOfKeys)
    await gateway.clock.advance(20_000)
    expect(await send()).toBe('BBBBBB')
    expect(await results(gateway)).toEqual({ new: 1, moved: 1, hit: 6 })
  })

  test('a fallback does not make the session forget its key', async () => {
    const { gateway, send } = await keys(withFallback)
    expect(await send(1)).toBe('A')
    byVariable(gateway.upstream, { A: broken(), B: broken() })
    gateway.upstream.next(broken())
    await send(1)
    gateway.upstream.always(answerOfKeys)
    await gateway.clock.advance(60_000)
    expect(await send()).toBe('AAAAAA')
  })

  test('`affinity = false` on the provider turns it off', async () => {
    const { send } = await keys(provider('affinity = false'))
    expect(await send()).toBe('ABABAB')
  })

  test('`affinity = "prefix"` on the provider pins long prompts', async () => {
    const { gateway } = await keys(provider('affinity = "prefix"'))
    const content = 'word '.repeat(900)
    for (let at = 0; at < 4; at++) {
      await gateway.chat({ ...request, messages: [{ role: 'user', content }] })
    }
    expect(listVariables(gateway.upstream).join('')).toBe('AAAA')
  })
})

test('a fleet of agents reads from the caches of vendors almost what one target alone would give', async () => {
  const fleet = {
    sessions: 8,
    turns: 10,
    targets: 3,
    keys: 2,
    affinity: 'true',
    namesSession: true,
    failures: 0.01,
    limits: 0.01,
    hasOutage: true,
    seed: 1,
  } as const
  const single = { targets: 1, keys: 1, failures: 0, limits: 0, hasOutage: false }
  const alone = await simulateAgents({ ...fleet, ...single })
  const pinned = await simulateAgents(fleet)
  const spread = await simulateAgents({ ...fleet, affinity: 'false' })
  expect(pinned).toMatchObject({ served: 80, failed: 0 })
  expect(pinned.cachedShare / alone.cachedShare).toBeGreaterThan(0.9)
  expect(spread.cachedShare / alone.cachedShare).toBeLessThan(0.6)
  expect(pinned.load.size).toBeGreaterThan(3)
})

describe('what is shown', () => {
  test('explain says what is pinned, and changes nothing', async () => {
    const gateway = await keyedGateway(makeRoute(), { random: randomFrom(9) })
    gateway.upstream.always(answer)
    const explain = async (more: object) => {
      const question = { path: '/v1/chat/completions', body: chatBody(), ...more }
      return (await gateway.admin('POST', '/admin/explain', question)).body
    }
    const key = await gateway.key()
    const init = { headers: { ...key.headers, ...session('s').headers } }
    const first = await callsOf(gateway, { init, times: 1 })
    const asked = { session: 's', key_id: key.id }
    const links = [{ model: first, pinned: true }, { pinned: false }, { pinned: false }]
    expect(await explain(asked)).toMatchObject({ links })
    expect(await explain({ key_id: key.id })).toMatchObject({
      links: [{ pinned: false }, { pinned: false }, { pinned: false }],
    })
    expect(await results(gateway)).toEqual({ new: 1 })
    expect(await explain({ session: 'a b' })).toMatchObject({ error: { param: 'session' } })
  })

  test('explain names the key that goes first', async () => {
    const vars = { ...env, GATEWAY_MASTER_KEY: masterKey }
    const { chat, upstream, admin, key } = await keyedGateway(provider(), { env: vars })
    upstream.always(answerOfKeys)
    const { headers, id } = await key()
    for (const name of ['1', '2']) {
      await chat(request, { headers: { ...headers, ...session(name).headers } })
    }
    const question = { path: '/v1/chat/completions', body: request, session: '2', key_id: id }
    expect((await admin('POST', '/admin/explain', question)).body).toMatchObject({
      links: [{ pinned: true, pinned_credential: 'B' }],
    })
  })

  test('/admin/routes has the setting, and /admin/status and /metrics the number of pins', async () => {
    const gateway = await keyedGateway(settings('affinity_ttl_seconds = 60'))
    gateway.upstream.always(answer)
    const { headers } = await gateway.key()
    for (const name of ['1', '2']) {
      await gateway.chat(chatBody(), { headers: { ...headers, ...session(name).headers } })
    }
    expect((await gateway.admin('GET', '/admin/routes')).body).toMatchObject({
      routes: [{ id: 'r', affinity: 'session', affinity_ttl_seconds: 60 }],
    })
    expect((await gateway.admin('GET', '/admin/status')).body).toMatchObject({ pins: 2 })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toContain('gateway_affinity_pins 2')
    // Nothing of a session is logged.
    const secret = 'canary-of-a-session'
    await gateway.chat(chatBody(), { headers: { ...headers, ...session(secret).headers } })
    expect(JSON.stringify(gateway.log)).not.toContain(secret)
  })

  test('the sums of a route show the share of cached tokens', async () => {
    const gateway = await keyedGateway(makeRoute())
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 1,
      total_tokens: 101,
      prompt_tokens_details: { cached_tokens: 75 },
    }
    gateway.upstream.always(json(completion('Hi', { usage })))
    await gateway.ask(await gateway.key(), chatBody())
    await gateway.rows()
    expect((await gateway.admin('GET', '/admin/usage')).body).toMatchObject({
      groups: [{ group: 'r', tokens_in: 100, cached_tokens: 75, cached_share: 0.75 }],
    })
  })
})
