import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, event, payloads, saying, serviceAccount, token, vertexGateway } from './support.ts'

interface RequestCase {
  readonly name: string
  readonly model: string
  readonly provider?: { readonly base_url?: string; readonly strict?: boolean }
  /** Defaults to an access token. */
  readonly secret?: string
  readonly request: { readonly stream?: boolean }
  readonly upstream?: { readonly url: string; readonly headers: object; readonly body: object }
  readonly error?: { readonly code: string; readonly param: string }
}

interface AnswerCase {
  readonly name: string
  readonly status: number
  readonly body: object
  readonly answer: object
}

interface StreamCase {
  readonly name: string
  readonly chunks: readonly string[]
  readonly frames: readonly unknown[]
}

function fixtures<Case>(file: string): readonly Case[] {
  const url = new URL(`../../fixtures/vertex_ai/${file}.json`, import.meta.url)
  // The files have the shapes above.
  return JSON.parse(readFileSync(url, 'utf8'), filledIn) as Case[]
}

/** The fields that differ in each run. */
const madeHere = new Map<unknown, unknown>([
  ['<now>', 1_764_000_000],
  // Of an error frame, only the code is compared.
  ['<LM-3010>', expect.objectContaining({ code: 'LM-3010' })],
  ['<call_1>', expect.stringMatching(/^call_\w{24}$/)],
])

function filledIn(_: string, value: unknown): unknown {
  return madeHere.get(value) ?? value
}

const requests = fixtures<RequestCase>('requests')

describe('requests', () => {
  test.each(requests.filter(({ upstream }) => upstream))('$name', async (fixture) => {
    const { request, upstream: expected } = fixture
    const { chat, upstream } = await gatewayFor(fixture)
    if (fixture.secret === 'service-account') upstream.next(token('ya29.test'))
    upstream.next(request.stream ? stream([event(saying('Hi'))]) : json(saying('Hi')))
    const response = await chat(request)
    expect(response.status).toBe(200)
    const sent = upstream.requests.at(-1)
    expect(sent).toMatchObject({ method: 'POST', url: expected?.url, headers: expected?.headers })
    const credentials = ['authorization', 'x-goog-api-key'].filter((name) => sent?.headers[name])
    expect(credentials).toHaveLength(1)
    expect(upstream.body()).toEqual(expected?.body)
  })

  test.each(requests.filter(({ error }) => error))('$name', async (fixture) => {
    const { chat, upstream } = await gatewayFor(fixture)
    const response = await chat(fixture.request)
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ ...fixture.error })
    expect(upstream.requests).toEqual([])
  })
})

function gatewayFor({ model: upstreamId, provider = {}, secret }: RequestCase) {
  return vertexGateway({
    upstreamId,
    baseUrl: provider.base_url,
    strict: provider.strict,
    secret: secret === 'service-account' ? serviceAccount : secret,
  })
}

describe('answers', () => {
  test.each(fixtures<AnswerCase>('answers'))('$name', async ({ status, body, answer }) => {
    const { chat, upstream } = await vertexGateway()
    upstream.next(json(body, { status }))
    const response = await chat(asking())
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(answer)
  })
})

describe('streams', () => {
  test.each(fixtures<StreamCase>('streams'))('$name', async ({ chunks, frames }) => {
    const whole = chunks.join('')
    const bytes = [...new TextEncoder().encode(whole)].map((byte) => Uint8Array.of(byte))
    for (const way of [chunks, [whole], [whole.replaceAll('\r\n', '\n')], bytes]) {
      const { chat, upstream } = await vertexGateway()
      upstream.next(stream(way))
      expect(await payloads(await chat(asking({ stream: true })))).toEqual(frames)
    }
  })
})
