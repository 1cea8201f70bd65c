import * as fc from 'fast-check'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import { nodeDigest } from '../../adapters/node/process/system.ts'
import { nodeStreams } from '../../adapters/node/streams/index.ts'
import { createGateway, type UpstreamRequest } from '../../src/index.ts'
import { chunk, completion, done, role, stop, usageChunk } from '../support/answers.ts'
import { cacheOn } from '../support/cached.ts'
import { claudeMessage, claudeStream } from '../support/claude-answers.ts'
import { series } from '../support/exposition.ts'
import { providerKey } from '../support/gateway.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { MemoryFile, withAuth } from '../support/reloading-gateway.ts'
import { json, type Responder, ScriptedUpstream, stream } from '../support/scripted-upstream.ts'

/*
 * Random requests against a plain model of the cache, which predicts every hit and the memory that the
 * answers take. `CACHE_RUNS=1000` makes more runs.
 */

const { CACHE_RUNS: runs = 60 } = process.env
const ttl = 60_000
const maxBytes = 20_000
const maxEntryBytes = 6_000
/** In bytes, besides the body and the texts of an answer. */
const overhead = 1024

/**
 * `m` speaks chat completions; its fallback `t` speaks Messages. Only what is asked for in the API of the model
 * that serves is verbatim.
 */
const native = { m: 'chat/completions', t: 'messages' }

const config = `${cacheOn(`ttl_seconds = ${ttl / 1000}\nmax_bytes = ${maxBytes}\nmax_entry_bytes = ${maxEntryBytes}`)}
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000000
[[providers]]
name = "p"
kind = "openai"
base_url = "http://p.test/v1"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
cache = true
max_output_tokens = 100
fallbacks = ["t"]
[[providers]]
name = "claude"
kind = "anthropic"
api_key_env = "P_KEY"
[[providers.models]]
id = "t"
cache = true
max_output_tokens = 200
`
/** The second has another model 'm'; 't' is the same. */
const configs = [config, config.replace('max_output_tokens = 100', 'max_output_tokens = 101')]

type ModelId = keyof typeof native
/** With `fallback`, the model that is asked for fails, and its fallback gives a short answer. */
type Answer = 'short' | 'large' | 'unfinished' | 'refused' | 'fallback'

const asked = fc.record({
  kind: fc.constant('ask' as const),
  client: fc.nat(3),
  api: fc.constantFrom('chat/completions', 'messages', 'responses'),
  model: fc.constantFrom<ModelId>('m', 't'),
  form: fc.constantFrom('whole', 'stream', 'stream with usage'),
  seed: fc.constantFrom(undefined, undefined, undefined, 1),
  user: fc.constantFrom(undefined, 'u'),
  isReversed: fc.boolean(),
  directive: fc.constantFrom('', '', '', '', '', 'no-cache', 'no-store'),
  answer: fc.constantFrom<Answer>('short', 'short', 'fallback', 'large', 'unfinished', 'refused'),
})

const step = fc.oneof(
  { weight: 20, arbitrary: asked },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), delay: fc.nat(ttl) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), config: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
)

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Ask = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

/** An answer that the model has kept. */
interface Kept {
  readonly key: string
  readonly model: ModelId
  readonly form: string
  /** As its client got it. */
  readonly text: string
  /** The part of it that no other answer has. */
  readonly mark: string
  readonly size: number
  readonly at: number
}

/** The cache as a list, the least recently used answer first. */
class Model {
  kept: Kept[] = []

  find(keys: readonly string[], now: number): Kept | undefined {
    for (const key of keys) {
      const found = this.kept.find((one) => one.key === key)
      if (found) this.#remove(key)
      if (!found || now - found.at >= ttl) continue
      this.kept.push(found)
      return found
    }
    return undefined
  }

  keep(answer: Kept, replaced: string): void {
    if (answer.text.length > maxEntryBytes) return
    this.#remove(replaced)
    this.#remove(answer.key)
    while (this.bytes + answer.size > maxBytes) this.kept.shift()
    this.kept.push(answer)
  }

  get bytes(): number {
    return this.kept.reduce((sum, { size }) => sum + size, 0)
  }

  #remove(key: string): void {
    this.kept = this.kept.filter((one) => one.key !== key)
  }
}

test('a client gets what the provider gave for an equal request of its account, and nothing else', async () => {
  const world = await openWorld()
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }),
      async (steps) => {
        await world.clear()
        for (const each of steps) await world.take(each)
        await world.expectMemory()
      },
    ),
    // A failure is made smaller only for so long, or the test would time out without a word about it.
    { numRuns: Number(runs), interruptAfterTimeLimit: 45_000 },
  )
  await world.close()
  expect(world.counts.hits).toBeGreaterThan(20)
  expect(world.counts.converted).toBeGreaterThan(3)
})

async function openWorld() {
  const file = new MemoryFile(withAuth(config))
  const upstream = new ScriptedUpstream()
  const clock = new ManualClock()
  const gateway = await createGateway({
    config: file.text,
    configFile: file,
    env: { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey },
    clock,
    upstream: upstream.port,
    streams: nodeStreams,
    digest: nodeDigest,
    openStore: async () => new MemoryStore(),
    metrics: () => createMetrics(new Registry()),
  })
  const send = (path: string, init: RequestInit = {}) =>
    gateway.fetch(new Request(`http://gateway.test${path}`, init))
  const admin = async (method: string, path: string, fields?: object) => {
    const response = await send(path, {
      method,
      headers: { authorization: `Bearer ${masterKey}` },
      ...(fields && { body: JSON.stringify(fields) }),
    })
    return (await response.json()) as Record<string, string>
  }
  const group = await admin('POST', '/admin/groups', { name: 'pool' })
  const clients: { secret: string; account: string }[] = []
  for (const pool of [null, null, group['id'], group['id']]) {
    const key = await admin('POST', '/admin/keys', { name: 'k', group_id: pool })
    clients.push({ secret: String(key['key']), account: pool ?? String(key['id']) })
  }
  const model = new Model()
  const counts = { hits: 0, converted: 0 }
  let current = 0
  let calls = 0

  return {
    counts,
    close: () => gateway.close(),
    clear,
    take: perform,
    async expectMemory(): Promise<void> {
      const metrics = await (await send('/metrics')).text()
      const value = (name: string) => series(metrics, name)[0]?.value
      expect(value('gateway_cache_bytes')).toBe(model.bytes)
      expect(value('gateway_cache_entries')).toBe(model.kept.length)
    },
  }

  async function clear(): Promise<Record<string, unknown>> {
    model.kept = []
    return admin('DELETE', '/admin/cache')
  }

  async function perform(next: Step): Promise<void> {
    const kept = model.kept.length
    switch (next.kind) {
      case 'wait':
        return clock.advance(next.delay)
      case 'clear':
        expect((await clear())['deleted']).toBe(kept)
        return
      case 'reload':
        if (next.config !== current) model.kept = model.kept.filter((one) => one.model !== 'm')
        current = next.config
        file.write(withAuth(configs[next.config] ?? ''))
        await gateway.reload()
        return
      case 'ask':
        return ask(next)
      default:
        next satisfies never
    }
  }

  async function ask(next: Ask): Promise<void> {
    const { secret, account } = clients[next.client] ?? { secret: '', account: '' }
    const answerKey = JSON.stringify([account, next.api, next.model, next.seed])
    const formKey = `${answerKey} ${next.form}`
    const expected =
      next.directive === '' ? model.find([formKey, answerKey], clock.elapsed()) : undefined
    const before = calls
    const answer = findAnswer(next)
    const serving = answer === 'fallback' ? 't' : next.model
    upstream.always((call) => respond(answer, ++calls, call)(call))
    const response = await send(`/v1/${next.api}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-gateway-cache': next.directive },
      body: writeRequest(next),
    })
    const text = await response.text()
    expect(calls - before).toBe(expected ? 0 : answer === 'fallback' ? 2 : 1)
    if (expected) {
      counts.hits++
      expect(response.headers.get('x-gateway-cache')).toBe('hit')
      expect(text).toContain(expected.mark)
      expect(response.headers.get('content-type')?.startsWith('application/json')).toBe(
        next.form === 'whole',
      )
      if (expected.form === next.form) expect(text).toBe(expected.text)
      else counts.converted++
      return
    }
    if (answer === 'refused') return expect(response.status).toBe(400)
    const result = next.directive === 'no-store' ? 'bypass' : 'miss'
    expect(response.headers.get('x-gateway-cache')).toBe(result)
    if (answer === 'unfinished' || next.directive === 'no-store') return
    const isVerbatim = native[serving] === next.api
    const dropped = (response.headers.get('x-gateway-dropped') ?? '').split(',').join('')
    const texts = `${serving}${dropped}`
    model.keep(
      {
        key: isVerbatim ? formKey : answerKey,
        model: next.model,
        form: next.form,
        text,
        mark: markOf(calls),
        size: text.length + 2 * texts.length + overhead,
        at: clock.elapsed(),
      },
      formKey,
    )
  }
}

/** Returns what becomes of a request: a translated answer always ends, and only `m` has a fallback. */
function findAnswer({ answer, api, model }: Ask): Answer {
  const isPossible =
    (answer !== 'unfinished' || (api === native.m && model === 'm')) &&
    (answer !== 'fallback' || model === 'm')
  return isPossible ? answer : 'short'
}

function markOf(call: number): string {
  return `mark-${call}-`
}

/** Answers in the API and the form of the call. */
function respond(answer: Answer, call: number, { url, body }: UpstreamRequest): Responder {
  if (answer === 'refused') return json({ error: { message: 'no' } }, { status: 400 })
  if (answer === 'fallback' && !url.endsWith('/messages')) return json({}, { status: 500 })
  const text = `${markOf(call)}${'x'.repeat(answer === 'large' ? maxEntryBytes : 2)}`
  const isStream = JSON.parse(new TextDecoder().decode(body)).stream === true
  if (url.endsWith('/messages')) return isStream ? claudeStream(text) : claudeMessage(text)
  const end = answer === 'unfinished' ? [] : [stop]
  if (isStream) return stream([role, chunk({ content: text }), ...end, usageChunk, done])
  const message = { role: 'assistant', content: text }
  const finish = answer === 'unfinished' ? null : 'stop'
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
  return json({ ...completion(), choices })
}

/** Writes a body with its members in one of two orders, and blanks in one of them. */
function writeRequest({ api, model, form, seed, user, isReversed }: Ask): string {
  const messages = [{ role: 'user', content: 'Hi' }]
  const isStream = form !== 'whole'
  const members = {
    model,
    ...(api === 'responses' ? { input: 'Hi' } : { messages }),
    ...(api === 'messages' && { max_tokens: 10 }),
    seed,
    user,
    ...(isStream && { stream: true }),
    ...(form === 'stream with usage' && { stream_options: { include_usage: true } }),
  }
  const ordered = isReversed ? Object.entries(members).toReversed() : Object.entries(members)
  return JSON.stringify(Object.fromEntries(ordered), undefined, isReversed ? 1 : 0)
}
