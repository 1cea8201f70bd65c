import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  afterRetries,
  type EmbedSetup,
  embedConfig,
  postEmbeddings,
} from '../../support/embed-kinds.ts'
import { providerKey, readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

interface RequestCase extends EmbedSetup {
  readonly name: string
  readonly request: object
  /** The upstream calls, in the order of the items. */
  readonly calls?: readonly {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: object
  }[]
  readonly error?: { readonly code: string; readonly param: string }
}

interface Answered {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

interface AnswerCase extends EmbedSetup {
  readonly name: string
  readonly request: object
  /** One answer to every call, or one for each in turn. */
  readonly upstream: Answered | readonly Answered[]
  readonly status: number
  readonly answer?: { readonly data: readonly unknown[]; readonly usage: object }
  readonly error?: { readonly code: string; readonly says?: string }
}

function fixtures<Case>(file: string): readonly Case[] {
  const url = new URL(`../../fixtures/embeddings/${file}.json`, import.meta.url)
  // The files have the types above.
  return JSON.parse(readFileSync(url, 'utf8')) as Case[]
}

describe('requests', () => {
  test.each(fixtures<RequestCase>('requests'))('$name', async (fixture) => {
    const gateway = await watchedGateway(embedConfig(fixture))
    const { upstream } = gateway
    upstream.always(json({}, { status: 400 }))
    const response = await postEmbeddings(gateway, fixture.request)
    if (fixture.error) {
      const { code, param } = fixture.error
      expect(response.status).toBe(400)
      const error = await readError(response)
      expect(error['code']).toBe(code)
      expect(String(error['param']).split('.')[0]).toBe(param)
      expect(upstream.requests).toEqual([])
      return
    }
    expect(upstream.requests).toHaveLength(fixture.calls?.length ?? 0)
    for (const [index, call] of fixture.calls?.entries() ?? []) {
      const { url, headers } = upstream.requests[index] ?? {}
      expect(url).toBe(call.url)
      expect(upstream.body(index)).toEqual(withLists(call.body, upstream.body(index)))
      for (const [name, value] of Object.entries(call.headers)) {
        expect(headers?.[name], name).toBe(value.replace('<key>', providerKey))
      }
      expect(url).not.toContain(providerKey)
      expect(new Headers(headers).has('authorization')).toBe(
        'authorization' in call.headers || fixture.kind === 'bedrock',
      )
    }
  })
})

describe('answers', () => {
  test.each(fixtures<AnswerCase>('answers'))('$name', async (fixture) => {
    const gateway = await watchedGateway(embedConfig(fixture))
    const answers = [fixture.upstream].flat()
    for (const { body, ...head } of answers) gateway.upstream.next(json(body, head))
    const [{ body, ...head }] = answers as [Answered]
    gateway.upstream.always(json(body, head))
    const response = await afterRetries(gateway, postEmbeddings(gateway, fixture.request))
    expect(response.status).toBe(fixture.status)
    if (fixture.error) {
      const error = await readError(response)
      expect(error['code']).toBe(fixture.error.code)
      expect(error['message']).toContain(fixture.error.says ?? '')
      return
    }
    const { data = [], usage = {} } = fixture.answer ?? {}
    const counted: Record<string, unknown> = { ...usage }
    for (const [name, value] of Object.entries(usage)) {
      if (value === '<estimate>') counted[name] = expect.any(Number)
    }
    expect(await response.json()).toEqual({
      object: 'list',
      data: data.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'm',
      usage: counted,
    })
  })
})

/** Treats a single text and a list of one text as equal. */
function withLists(expected: object, sent: unknown): object {
  const { input } = expected as { input?: unknown }
  const isList = Array.isArray((sent as { input?: unknown }).input)
  return typeof input === 'string' && isList ? { ...expected, input: [input] } : expected
}
