import { expect } from 'vitest'
import { providerKey, readError, type TestGateway, testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'

export interface Setup {
  readonly kind?: string
  readonly upstreamId?: string | undefined
  readonly strict?: boolean | undefined
  /** Further lines of the provider. */
  readonly settings?: string
  /** Further lines of the file, after the model. */
  readonly more?: string
}

/** A gateway with one provider `p` of the kind, and its model `g`. */
export function googleGateway(setup: Setup = {}, key = providerKey): Promise<TestGateway> {
  const { kind = 'google', upstreamId = 'gemini-2.5-flash', strict = false } = setup
  const { settings = '', more = '' } = setup
  const config = `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
strict = ${strict}
${settings}
[[providers.models]]
id = "g"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
${more}`
  return testGateway(config, { env: { P_KEY: key } })
}

/** Advances the clock until the response of a request with retries arrives. */
export async function patiently<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(300_000)
  return answer
}

/** A request with one question, and these fields. */
export function asking(fields: object = {}): object {
  return { model: 'g', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** An answer, or one stream event, with these parts of a candidate. */
export function answered(parts: readonly object[], candidate: object = {}): object {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
    responseId: 'r-1',
  }
}

export const counts = { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 }

/** An answer with this text. */
export function saying(text: string): object {
  return { ...answered([{ text }], { finishReason: 'STOP' }), usageMetadata: counts }
}

/** One event in the service's format. */
export function event(payload: object): string {
  return `data: ${JSON.stringify(payload)}\r\n\r\n`
}

export const end: string = event({
  ...answered([{ text: '' }], { finishReason: 'STOP' }),
  usageMetadata: counts,
})

/** An error in the shape of Google's APIs. */
export function failing(code: number, status: string, details: readonly object[] = []): object {
  return { error: { code, message: `the vendor said ${status}`, status, details } }
}

/** The payloads of a client's stream. */
export async function payloads(response: Response): Promise<unknown[]> {
  const text = await response.text()
  return [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  )
}

interface Content {
  readonly role: string
  readonly parts: readonly Record<string, unknown>[]
}

/** The fields of an upstream body that the tests check. */
export interface SentBody {
  readonly contents: readonly Content[]
  readonly systemInstruction?: { readonly parts: readonly object[] }
  readonly tools?: readonly [{ readonly functionDeclarations: readonly Record<string, unknown>[] }]
  readonly toolConfig?: object
  readonly generationConfig?: Record<string, unknown>
  readonly serviceTier?: string
  readonly cachedContent?: string
}

/** The upstream body for a request. */
export async function sent(request: object, setup?: Setup): Promise<SentBody> {
  const { chat, upstream } = await googleGateway(setup)
  upstream.next(json(saying('Hi')))
  const response = await chat(request)
  expect(response.status, response.ok ? '' : await response.text()).toBe(200)
  // All bodies of the dialect have this shape.
  return upstream.body() as SentBody
}

/** The error that a request is refused with, before any upstream call. */
export async function refused(request: object, setup?: Setup): Promise<Record<string, unknown>> {
  const { chat, upstream } = await googleGateway(setup)
  const response = await chat(request)
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  return readError(response)
}

/** A question, the model's calls, and their results. */
export function called(calls: readonly object[], results: readonly object[]): object {
  const tool_calls = calls.map((call, at) => ({
    id: `c${at}`,
    type: 'function',
    function: { name: `f${at}`, arguments: '{}' },
    ...call,
  }))
  return asking({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: null, tool_calls },
      ...results.map((result) => ({ role: 'tool', ...result })),
    ],
  })
}

export async function sentConfig(fields: object, upstreamId?: string) {
  const { generationConfig } = await sent(asking(fields), { upstreamId })
  return generationConfig
}

export const weather = { type: 'function', function: { name: 'weather' } }

export interface Completion {
  readonly id: string
  readonly choices: readonly {
    readonly index: number
    readonly message: Record<string, unknown> & {
      readonly tool_calls?: readonly { readonly id: string }[]
    }
    readonly finish_reason: string
    readonly logprobs: unknown
  }[]
  readonly usage: Record<string, unknown>
}

/** The client's completion for an answer of the vendor. */
export async function readCompletion(body: object): Promise<Completion> {
  const { chat, upstream } = await googleGateway()
  upstream.next(json(body))
  const response = await chat(asking())
  expect(response.status).toBe(200)
  // The tests check the fields that they read.
  return (await response.json()) as Completion
}

export const functionCallPart = { functionCall: { name: 'f', args: { a: 1 } } }

export const newerModel = { upstreamId: 'gemini-3.5-flash' }

export function userSays(...content: object[]): object {
  return asking({ messages: [{ role: 'user', content }] })
}

export function imagePart(url: string, more: object = {}): object {
  return { type: 'image_url', image_url: { url, ...more } }
}

export async function sentPart(part: object) {
  const { contents } = await sent(userSays(part))
  return contents[0]?.parts[0]
}

export const filesApiUrl = 'https://generativelanguage.googleapis.com/v1beta/files/abc-123'

export const signedBy = (thought_signature: unknown) => ({
  extra_content: { google: { thought_signature } },
})
