import { describe, expect, test } from 'vitest'
import { toDialect } from '../../scripts/conformance/upstream/compatible/dialect.ts'
import { compatibleUpstreams } from '../../scripts/conformance/upstream/compatible/index.ts'
import { type Fields, findFault } from '../../scripts/conformance/upstream/compatible/rule.ts'
import type { CompatibleUpstream } from '../../scripts/conformance/upstream/compatible/upstream.ts'
import { type Reply, upstreamKey } from '../../scripts/conformance/upstream/dialect.ts'
import { Refusal } from '../../scripts/conformance/upstream/refusal.ts'

describe.each(compatibleUpstreams.map((upstream) => ({ name: upstream.name, upstream })))(
  '$name',
  ({ upstream }) => {
    test.each(upstream.rules.map((rule) => ({ ...rule, rule })))('$demand', ({ rule }) => {
      const { breaks, keeps, effect, status = 400 } = rule
      const words = findFault(rule, toBody(upstream, breaks))
      expect(words).toEqual(expect.any(String))
      expect(words).not.toContain('%s')
      if (effect === undefined) {
        expect(() => send(upstream, breaks)).toThrow(words)
        const { refusal, body } = refuse(upstream, breaks)
        expect(refusal.status).toBe(status)
        expect(JSON.stringify(body)).toContain(JSON.stringify(words).slice(1, -1))
      } else {
        const reply = send(upstream, breaks)
        if (effect === 'misread') expect(reply.misread).toBe(words)
        else expect(reply.lacksProof).toBe(true)
      }
      const served = send(upstream, keeps)
      expect([served.misread, served.lacksProof]).toEqual([undefined, undefined])
    })

    test('every rule has its source', () => {
      for (const { source } of upstream.rules) expect(source).toMatch(/^https:\/\//)
    })
  },
)

function toBody({ model }: CompatibleUpstream, fields: Fields) {
  const messages = [{ role: 'user', content: 'Hi' }]
  return { model: `${model}--say`, messages, ...fields }
}

function send(upstream: CompatibleUpstream, fields: Fields): Reply {
  return toDialect(upstream).handle({
    path: '/v1/chat/completions',
    query: new URLSearchParams(),
    headers: new Headers({ authorization: `Bearer ${upstreamKey}` }),
    body: toBody(upstream, fields),
  })
}

function refuse(upstream: CompatibleUpstream, fields: Fields) {
  try {
    send(upstream, fields)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { refusal: error, ...toDialect(upstream).refuse(error) }
  }
  throw new Error('the request is served')
}
