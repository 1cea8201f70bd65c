import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { cacheOn } from '../support/cached.ts'
import { makeChain } from '../support/chain.ts'
import { testGateway } from '../support/gateway.ts'
import { MemoryTraces } from '../support/memory-traces.ts'
import {
  broken,
  json,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'

const lost = { kind: 'network', reason: 'ECONNRESET' } as const

const outcomes: Readonly<Record<string, Responder>> = {
  answer: json(completion()),
  overload: json({}, { status: 503 }),
  refusal: json({}, { status: 401 }),
  fault: json({}, { status: 400 }),
  garbage: whole('{'),
  disconnect: broken(),
  silence: silent(),
  stream: stream([wholeStream]),
  'early end': stream([role]),
  'late end': stream([role + hello]),
  'late failure': stream([role + hello], { failure: lost }),
}

const request = fc.record({
  isStream: fc.boolean(),
  model: fc.constantFrom('m', 'm', 'm', 'unknown'),
  script: fc.array(fc.constantFrom(...Object.keys(outcomes)), { minLength: 4, maxLength: 4 }),
  /** When the client leaves, in milliseconds; undefined when it stays. */
  leaves: fc.option(fc.constantFrom(0, 10, 200, 900), { nil: undefined }),
  readsBody: fc.boolean(),
})

test('every span ends once, whatever becomes of its request and of its client', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
      const traces = new MemoryTraces()
      const links = [{ model: 'cache = true' }, { model: 'cache = true' }]
      const timeouts = 'total_timeout_ms = 2000\nretry_max_attempts = 2'
      const { chat, clock, gateway, upstream } = await testGateway(
        `${cacheOn()}[server]\nfirst_token_timeout_ms = 400\n${makeChain(links, timeouts)}`,
        { traces: traces.open },
      )
      upstream.always(silent())
      for (const { isStream, model, script, leaves, readsBody } of requests) {
        upstream.next(...script.flatMap((name) => outcomes[name] ?? []))
        const client = new AbortController()
        const body = { model, stream: isStream, messages: [{ role: 'user', content: 'Hi' }] }
        const read = async () => {
          const response = await chat(body, { signal: client.signal })
          await (readsBody ? response.text() : response.body?.cancel())
        }
        const reading = read().catch(() => {})
        if (leaves !== undefined) {
          await clock.advance(leaves)
          client.abort()
        }
        await clock.advance(3_000)
        await reading
      }
      await gateway.close()
      expect(traces.roots).toHaveLength(requests.length)
      expect(traces.all.map(({ ends }) => ends)).toEqual(traces.all.map(() => 1))
    }),
    { numRuns: 60 },
  )
})
