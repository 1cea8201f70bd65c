import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parsePayloads } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { singly } from '../../support/pieces.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, apiKey, asking, bedrockGateway, streamed, waitForAnswer } from './support.ts'

interface Case {
  readonly name: string
  readonly error?: object
}

interface RequestCase extends Case {
  /** The `upstream_id` of the model. */
  readonly model?: string
  readonly provider?: { readonly strict: boolean }
  readonly request: { readonly stream?: boolean }
  readonly upstream: { readonly path: string; readonly body: object }
}

interface AnswerCase extends Case {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  readonly answer: object
}

interface StreamCase extends Case {
  /** Complete messages in base64. */
  readonly chunks: readonly string[]
  /** The payloads that the client gets. */
  readonly frames: readonly object[]
}

/** The error that the client gets, and the number of upstream calls before it. */
interface Refused extends Case {
  readonly error: { readonly code: string; readonly status: number; readonly calls: number }
}

interface Invalid extends Case {
  readonly error: { readonly code: string; readonly param: string }
}

function fixtures<Good extends Case, Bad extends Case>(file: string) {
  const url = new URL(`../../fixtures/bedrock/${file}.json`, import.meta.url)
  // The fixture files have the shapes above; a failing case has an error.
  const cases = JSON.parse(readFileSync(url, 'utf8')) as (Good | Bad)[]
  return {
    good: cases.filter((one) => one.error === undefined) as Good[],
    bad: cases.filter((one) => one.error !== undefined) as (Good & Bad)[],
  }
}

describe('requests', () => {
  const { good, bad } = fixtures<RequestCase, Invalid>('requests')

  test.each(good)(
    'the request is translated as expected: $name',
    async ({ model, provider, request, upstream: expected }) => {
      const gateway = await bedrockGateway({ upstreamId: model, strict: provider?.strict })
      const { upstream } = gateway
      upstream.always(request.stream ? streamed([]) : json(answered([{ text: 'Hi' }])))
      await waitForAnswer(gateway, gateway.chat(request))
      expect(upstream.requests[0]).toMatchObject({
        method: 'POST',
        url: `https://bedrock-runtime.us-east-1.amazonaws.com${expected.path}`,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      })
      expect(upstream.body(0)).toEqual(expected.body)
    },
  )

  test.each(bad)(
    'the request is refused or fails as expected: $name',
    async ({ model, provider, request, error }) => {
      const { chat, upstream } = await bedrockGateway({
        upstreamId: model,
        strict: provider?.strict,
      })
      const response = await chat(request)
      expect(response.status).toBe(400)
      expect(await readError(response)).toMatchObject(error)
      expect(upstream.requests).toEqual([])
    },
  )
})

describe('answers', () => {
  const { good, bad } = fixtures<AnswerCase, Refused>('answers')

  test.each(good)(
    'the answer is translated as expected: $name',
    async ({ status, headers, body, answer }) => {
      const { chat, upstream } = await bedrockGateway()
      upstream.next(json(body, { status, headers }))
      const response = await chat(asking())
      expect(await response.json()).toEqual(answer)
    },
  )

  test.each(bad)(
    'the answer is refused or fails as expected: $name',
    async ({ status, headers, body, error }) => {
      const gateway = await bedrockGateway()
      gateway.upstream.always(json(body, { status, headers }))
      const response = await waitForAnswer(gateway, gateway.chat(asking()))
      expect(response.status).toBe(error.status)
      expect((await readError(response))['code']).toBe(error.code)
      expect(gateway.upstream.requests).toHaveLength(error.calls)
    },
  )
})

describe('streams', () => {
  const { good, bad } = fixtures<StreamCase, Refused>('streams')

  test.each(good)('the stream is translated as expected: $name', async ({ chunks, frames }) => {
    for (const cut of cuts(chunks)) {
      const { chat, upstream } = await bedrockGateway()
      upstream.next(streamed(cut))
      const received = await parsePayloads(await chat(asking({ stream: true })))
      expect(received.map(briefly)).toEqual(frames)
    }
  })

  test.each(bad)('the stream is refused or fails as expected: $name', async ({ chunks, error }) => {
    for (const cut of cuts(chunks)) {
      const gateway = await bedrockGateway()
      gateway.upstream.always(streamed(cut))
      const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
      expect(response.status).toBe(error.status)
      expect((await readError(response))['code']).toBe(error.code)
      expect(gateway.upstream.requests).toHaveLength(error.calls)
    }
  })
})

/** Reduces an error to its code. */
function briefly(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return payload
  const { code } = payload.error as { code: string }
  return { error: { code } }
}

/** The same bytes in different pieces, as the network may deliver them. */
function cuts(chunks: readonly string[]): readonly (readonly Uint8Array[])[] {
  const messages = chunks.map((chunk) => Uint8Array.from(Buffer.from(chunk, 'base64')))
  const whole = Uint8Array.from(Buffer.concat(messages))
  return [messages, [whole], singly(whole)]
}
