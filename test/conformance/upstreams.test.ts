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

describe('an answer', () => {
  const tools = [
    { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
  ]

  test.each([
    ['moonshot', '"id":"functions.weather:0"'],
    ['mistral', '"content":[{"type":"thinking","thinking":[{"type":"text","text":"First I '],
    ['openrouter', '"reasoning_details":[{"type":"reasoning.encrypted","data":'],
    ['groq', '"delta":{"reasoning":"First I '],
    ['llamacpp', '"delta":{"reasoning_content":"First I '],
  ])('%s streams %s', (name, words) => {
    const frames = stream(find(name), { tools })
    expect(frames.join('')).toContain(words)
    expect(frames.at(-1)).toBe('data: [DONE]\n\n')
  })

  test('minimax streams thoughts as entries when asked, else in the content, and no [DONE]', () => {
    const split = stream(find('minimax'), { tools, reasoning_split: true })
    expect(split.join('')).toContain(
      '"reasoning_details":[{"type":"reasoning.text","text":"First I ',
    )
    const plain = stream(find('minimax'), { tools })
    expect(plain.join('')).toContain('"delta":{"content":"<think>\\nFirst I ')
    for (const frames of [split, plain])
      expect(frames.at(-1)).toContain('"finish_reason":"tool_calls"')
  })
})

function find(name: string): CompatibleUpstream {
  const found = compatibleUpstreams.find((upstream) => upstream.name === name)
  if (!found) throw new Error(`no upstream ${name}`)
  return found
}

/** The frames of a call that follows thoughts. */
function stream(upstream: CompatibleUpstream, fields: Fields) {
  const reply = send(upstream, { ...fields, model: `${upstream.model}--tool`, stream: true })
  if (reply.kind !== 'stream') throw new Error('not a stream')
  return reply.frames
}

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
