import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { afterRetries } from '../../support/embed-kinds.ts'
import { providerKey, readError } from '../../support/gateway.ts'
import { type RerankSetup, rerank, rerankConfig } from '../../support/rerank.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

interface RequestCase extends RerankSetup {
  readonly name: string
  readonly request: object
  /** The upstream calls, in the order of the documents. */
  readonly calls?: readonly {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: object
  }[]
  readonly error?: { readonly code: string; readonly param: string }
}

interface AnswerCase extends RerankSetup {
  readonly name: string
  readonly request: object
  readonly upstream: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
  }
  readonly status: number
  readonly answer?: { readonly results: readonly object[]; readonly usage: object }
  readonly error?: { readonly code: string; readonly says?: string }
}

function fixtures<Case>(file: string): readonly Case[] {
  const url = new URL(`../../fixtures/rerank/${file}.json`, import.meta.url)
  // The files have the types above.
  return JSON.parse(readFileSync(url, 'utf8')) as Case[]
}

describe('requests', () => {
  test.each(fixtures<RequestCase>('requests'))('$name', async (fixture) => {
    const gateway = await watchedGateway(rerankConfig(fixture))
    const { upstream } = gateway
    upstream.always(json({}, { status: 400 }))
    const response = await rerank(gateway, fixture.request)
    if (fixture.error) {
      expect(response.status).toBe(400)
      expect(await readError(response)).toMatchObject(fixture.error)
      expect(upstream.requests).toEqual([])
      return
    }
    expect(upstream.requests).toHaveLength(fixture.calls?.length ?? 0)
    for (const [index, call] of fixture.calls?.entries() ?? []) {
      const { url, headers } = upstream.requests[index] ?? {}
      expect(url).toBe(call.url)
      expect(upstream.body(index)).toEqual(call.body)
      for (const [name, value] of Object.entries(call.headers)) {
        expect(headers?.[name], name).toBe(value.replace('<key>', providerKey))
      }
      expect(new Headers(headers).has('authorization')).toBe('authorization' in call.headers)
    }
  })
})

describe('answers', () => {
  test.each(fixtures<AnswerCase>('answers'))('$name', async (fixture) => {
    const gateway = await watchedGateway(rerankConfig(fixture))
    const { body, ...head } = fixture.upstream
    gateway.upstream.always(json(body, head))
    const response = await afterRetries(gateway, rerank(gateway, fixture.request))
    expect(response.status).toBe(fixture.status)
    if (fixture.error) {
      const error = await readError(response)
      expect(error['code']).toBe(fixture.error.code)
      expect(error['message']).toContain(fixture.error.says ?? '')
      return
    }
    expect(await response.json()).toEqual({ model: 'm', ...fixture.answer })
  })
})
