import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parsePayloads } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { cutsOf, pieces, singly } from '../../support/pieces.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message, waitForAnswer } from './support.ts'

interface RequestCase {
  readonly name: string
  /** The `upstream_id` of the model. */
  readonly model?: string
  readonly provider?: { readonly strict: boolean }
  readonly request: { readonly stream?: boolean }
  readonly upstream?: {
    readonly path: string
    readonly headers: Record<string, string>
    readonly body: unknown
  }
  readonly error?: { readonly code: string; readonly param: string }
}

/** The expected result for an answer that fails in every attempt. */
interface Failure {
  readonly status: number
  readonly code: string
  readonly calls: number
}

interface AnswerCase {
  readonly name: string
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
  readonly answer?: unknown
  readonly error?: Failure
}

interface StreamCase {
  readonly name: string
  readonly chunks: readonly string[]
  readonly frames?: readonly unknown[]
  readonly error?: Failure
}

describe('requests', () => {
  test.each(fixtures<RequestCase>('requests'))(
    'the request is translated as expected: $name',
    async (fixture) => {
      const { model, provider, request, upstream: sent, error } = fixture
      const settings = provider?.strict ? 'strict = true' : ''
      const gateway = await anthropicGateway({ upstreamId: model, settings })
      const { upstream } = gateway
      upstream.always(json(message([])))
      const response = await waitForAnswer(gateway, gateway.chat(request))
      if (error) {
        expect(response.status).toBe(400)
        expect(await readError(response)).toMatchObject(error)
        expect(upstream.requests).toEqual([])
        return
      }
      expect(upstream.requests[0]).toMatchObject({
        method: 'POST',
        url: `https://api.anthropic.com${sent?.path}`,
        headers: {
          'content-type': 'application/json',
          'x-api-key': 'sk-ant-api03-canary',
          ...sent?.headers,
        },
      })
      expect(upstream.body(0)).toEqual(sent?.body)
    },
  )
})

describe('answers', () => {
  test.each(fixtures<AnswerCase>('answers'))(
    'the answer is translated as expected: $name',
    async (fixture) => {
      const { status, headers = {}, body, answer, error } = fixture
      const gateway = await anthropicGateway()
      gateway.upstream.always(json(body, { status, headers }))
      const response = await waitForAnswer(gateway, gateway.chat(asking()))
      if (error) await expectFailure(response, gateway.upstream.requests.length, error)
      else expect(await response.json()).toEqual(answer)
    },
  )
})

describe('streams', () => {
  test.each(fixtures<StreamCase>('streams'))(
    'the stream is translated as expected: $name',
    async ({ chunks, frames, error }) => {
      const gateway = await anthropicGateway()
      const { upstream } = gateway
      upstream.always(stream(chunks))
      const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
      if (error) await expectFailure(response, upstream.requests.length, error)
      else expect(await parsePayloads(response)).toEqual(frames?.map(asExpected))
    },
  )

  const shown = fixtures<StreamCase>('streams').filter(({ frames }) => frames)
  test.each(shown)(
    'the chunks are the same wherever the network splits the stream: $name',
    async ({ chunks }) => {
      const { chat, upstream } = await anthropicGateway()
      const show = async (cut: readonly Uint8Array[]) => {
        upstream.next(pieces(cut))
        const response = await chat(asking({ stream: true }), { headers: { 'x-request-id': 'r' } })
        return response.text()
      }
      const text = chunks.join('')
      const bytes = new TextEncoder().encode(text)
      const whole = await show([bytes])
      for (const cut of cutsOf(bytes)) expect(await show(cut)).toBe(whole)
      expect(await show(singly(bytes))).toBe(whole)
      const otherLineEnds = new TextEncoder().encode(text.replaceAll('\n', '\r\n'))
      expect(await show([otherLineEnds])).toBe(whole)
      expect(await show(singly(otherLineEnds))).toBe(whole)
    },
  )
})

/** Compares only the given members of a terminal frame. */
function asExpected(frame: unknown): unknown {
  return typeof frame === 'object' && frame !== null && 'error' in frame
    ? { error: expect.objectContaining(frame.error) }
    : frame
}

async function expectFailure(response: Response, calls: number, failure: Failure): Promise<void> {
  expect(response.status).toBe(failure.status)
  expect((await readError(response))['code']).toBe(failure.code)
  expect(calls).toBe(failure.calls)
}

function fixtures<Case>(file: string): Case[] {
  const url = new URL(`../../fixtures/anthropic/${file}.json`, import.meta.url)
  // The fixture files have the shapes above.
  return JSON.parse(readFileSync(url, 'utf8')) as Case[]
}
