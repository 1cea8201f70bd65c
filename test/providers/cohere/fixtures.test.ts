import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parsePayloads } from '../../support/chunks.ts'
import { providerKey, readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, patiently } from './support.ts'

interface Case {
  readonly name: string
  readonly error?: object
}

interface RequestCase extends Case {
  readonly provider?: { readonly strict: boolean }
  readonly request: { readonly stream?: boolean }
  readonly upstream: { readonly path: string; readonly body: object }
}

interface AnswerCase extends Case {
  /** Further fields of the request. */
  readonly request?: object
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
  readonly answer: object
}

interface StreamCase extends Case {
  readonly includeUsage?: boolean
  readonly chunks: readonly string[]
  /** The client's payloads. */
  readonly frames: readonly object[]
}

/** The client's error, and the number of upstream calls until the gateway gives up. */
interface Refused extends Case {
  readonly error: { readonly code: string; readonly status: number; readonly calls: number }
}

interface Invalid extends Case {
  readonly error: { readonly code: string; readonly param: string }
}

function fixtures<Good extends Case, Bad extends Case>(file: string) {
  const url = new URL(`../../fixtures/cohere/${file}.json`, import.meta.url)
  // The files have the shapes above; cases with `error` have the second one.
  const cases = JSON.parse(readFileSync(url, 'utf8')) as (Good | Bad)[]
  return {
    good: cases.filter((one) => one.error === undefined) as Good[],
    bad: cases.filter((one) => one.error !== undefined) as (Good & Bad)[],
  }
}

describe('requests', () => {
  const { good, bad } = fixtures<RequestCase, Invalid>('requests')

  test.each(good)('$name', async ({ provider, request, upstream: expected }) => {
    const gateway = await cohereGateway(provider?.strict ? 'strict = true' : '')
    const { upstream } = gateway
    upstream.always(request.stream ? stream([]) : json(answered({})))
    await patiently(gateway, gateway.chat(request))
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: `https://api.cohere.com${expected.path}`,
      headers: { authorization: `Bearer ${providerKey}`, 'content-type': 'application/json' },
    })
    expect(upstream.body(0)).toEqual(expected.body)
  })

  test.each(bad)('$name', async ({ provider, request, error }) => {
    const { chat, upstream } = await cohereGateway(provider?.strict ? 'strict = true' : '')
    const response = await chat(request)
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject(error)
    expect(upstream.requests).toEqual([])
  })
})

describe('answers', () => {
  const { good, bad } = fixtures<AnswerCase, Refused>('answers')

  test.each(good)('$name', async ({ request, body, answer }) => {
    const { chat, upstream } = await cohereGateway()
    upstream.next(json(body))
    const response = await chat(asking(request))
    expect(await response.json()).toEqual(answer)
  })

  test.each(bad)('$name', async ({ status, headers = {}, body, error }) => {
    const gateway = await cohereGateway()
    gateway.upstream.always(json(body, { status, headers }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(error.status)
    expect((await readError(response))['code']).toBe(error.code)
    expect(gateway.upstream.requests).toHaveLength(error.calls)
  })
})

describe('streams', () => {
  const { good, bad } = fixtures<StreamCase, Refused>('streams')

  test.each(good)('$name', async ({ chunks, frames, includeUsage }) => {
    const request = asking({ stream: true, stream_options: { include_usage: includeUsage } })
    for (const cut of cuts(chunks)) {
      const { chat, upstream } = await cohereGateway()
      upstream.next(stream(cut))
      const received = await parsePayloads(await chat(request))
      expect(received.map(briefly)).toEqual(frames)
    }
  })

  test.each(bad)('$name', async ({ chunks, error }) => {
    for (const cut of cuts(chunks)) {
      const gateway = await cohereGateway()
      gateway.upstream.always(stream(cut))
      const response = await patiently(gateway, gateway.chat(asking({ stream: true })))
      expect(response.status).toBe(error.status)
      expect((await readError(response))['code']).toBe(error.code)
      expect(gateway.upstream.requests).toHaveLength(error.calls)
    }
  })
})

/** Reduces an error frame to its code. */
function briefly(payload: unknown): unknown {
  const { error } = Object(payload) as { error?: { code: string } }
  return error ? { error: { code: error.code } } : payload
}

/** Different splits of the same bytes, and the other line ending. */
function cuts(chunks: readonly string[]): readonly (readonly (string | Uint8Array)[])[] {
  const whole = chunks.join('')
  const bytes = new TextEncoder().encode(whole)
  return [
    chunks,
    [whole],
    [whole.replaceAll('\n', '\r\n')],
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
  ]
}
