import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { providerKey, readError, type TestGateway } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, end, googleGateway, patiently, payloads, saying } from './support.ts'

interface RequestCase {
  readonly name: string
  readonly model: string
  readonly provider?: { readonly strict: boolean }
  readonly request: { readonly stream?: boolean }
  readonly upstream?: { readonly path: string; readonly body: object }
  readonly error?: { readonly code: string; readonly param: string }
}

interface AnswerCase {
  readonly name: string
  readonly status: number
  readonly body: object
  readonly answer?: object
  readonly error?: Failure
}

interface StreamCase {
  readonly name: string
  readonly includeUsage?: boolean
  readonly chunks: readonly string[]
  readonly frames?: readonly unknown[]
  readonly error?: Failure
}

interface Failure {
  readonly code: string
  readonly status: number
  /** Number of upstream calls until the gateway gives up. */
  readonly calls: number
}

function fixtures<Case>(file: string): readonly Case[] {
  const url = new URL(`../../fixtures/google/${file}.json`, import.meta.url)
  const filledIn = (_: string, value: unknown) => {
    if (value === '<now>') return 1_764_000_000
    const isMadeUp = typeof value === 'string' && /^<call_\d>$/.test(value)
    return isMadeUp ? expect.stringMatching(/^call_\w{24}$/) : value
  }
  // The files have the shapes above.
  return JSON.parse(readFileSync(url, 'utf8'), filledIn) as Case[]
}

describe('requests', () => {
  test.each(fixtures<RequestCase>('requests'))('$name', async (fixture) => {
    const { model: upstreamId, provider, request, error } = fixture
    const { chat, upstream } = await googleGateway({ upstreamId, strict: provider?.strict })
    upstream.next(request.stream ? stream([end]) : json(saying('Hi')))
    const response = await chat(request)
    if (error) {
      expect(response.status).toBe(400)
      expect(await readError(response)).toMatchObject(error)
      expect(upstream.requests).toEqual([])
      return
    }
    expect(response.status).toBe(200)
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: `https://generativelanguage.googleapis.com${fixture.upstream?.path}`,
      headers: { 'x-goog-api-key': providerKey, 'content-type': 'application/json' },
    })
    expect(upstream.body(0)).toEqual(fixture.upstream?.body)
  })
})

describe('answers', () => {
  test.each(fixtures<AnswerCase>('answers'))('$name', async ({ status, body, answer, error }) => {
    const gateway = await googleGateway()
    gateway.upstream.always(json(body, { status }))
    if (error) return expectFailure(gateway, gateway.chat(asking()), error)
    const response = await gateway.chat(asking())
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(answer)
  })
})

describe('streams', () => {
  test.each(fixtures<StreamCase>('streams'))('$name', async (fixture) => {
    const { chunks, frames, includeUsage, error } = fixture
    const request = asking({ stream: true, stream_options: { include_usage: includeUsage } })
    for (const way of waysOf(chunks)) {
      const gateway = await googleGateway()
      gateway.upstream.always(stream(way))
      const answer = gateway.chat(request)
      if (error) await expectFailure(gateway, answer, error)
      else expect((await payloads(await answer)).map(codeOnly)).toEqual(frames)
    }
  })
})

/** The fields of an error frame that fixtures state. */
function codeOnly(payload: unknown): unknown {
  const { error } = (payload as { error?: { code: string } }) ?? {}
  return error ? { error: { code: error.code } } : payload
}

async function expectFailure(gateway: TestGateway, answer: Promise<Response>, failure: Failure) {
  const { upstream } = gateway
  const { code, status, calls } = failure
  const response = await patiently(gateway, answer)
  expect(response.status).toBe(status)
  expect((await readError(response))['code']).toBe(code)
  expect(upstream.requests).toHaveLength(calls)
}

/** Different splits of the same bytes, and the other line ending. */
function waysOf(chunks: readonly string[]): readonly (readonly (string | Uint8Array)[])[] {
  const whole = chunks.join('')
  const other = whole.includes('\r\n')
    ? whole.replaceAll('\r\n', '\n')
    : whole.replaceAll('\n', '\r\n')
  const bytes = [...new TextEncoder().encode(whole)].map((byte) => Uint8Array.of(byte))
  return [chunks, [whole], [other], bytes]
}
