import { expect } from 'vitest'
import { assemble, type Outcome, readStream } from '../../support/chunks.ts'
import { readError, type TestGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'
import { event, piece } from '../cases/cohere.ts'

export { event, piece }

/** One provider of the kind with model `m`; `settings` are further lines of the provider. */
export function cohereGateway(settings = ''): Promise<TestGateway> {
  return watchedGateway(`
[[providers]]
name = "p"
kind = "cohere"
api_key_env = "P_KEY"
${settings}
[[providers.models]]
id = "m"
upstream_id = "command-a-03-2025"
modalities = ["text", "image"]
`)
}

/** Advances the clock until the response of a request with retries arrives. */
export async function patiently<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(120_000)
  return answer
}

/** A request with one question, and these fields. */
export function asking(fields: object = {}): object {
  return { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** An answer of the vendor with these fields of its message. */
export function answered(message: object, more: object = {}): object {
  return {
    id: 'co-1',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', ...message },
    usage: { tokens: { input_tokens: 10, output_tokens: 5 } },
    ...more,
  }
}

export const start: string = event('message-start', { id: 'co-1', delta: { message: {} } })

/** A piece of text. */
export function say(text: string): string {
  return piece('content-delta', { content: { text } }, { index: 0 })
}

export function end(finish_reason = 'COMPLETE', delta: object = {}): string {
  const usage = { tokens: { input_tokens: 10, output_tokens: 5 } }
  return event('message-end', { delta: { finish_reason, usage, ...delta } })
}

/** The assembled stream, and how it ended. */
export interface Heard extends Outcome {
  readonly done: boolean
  /** The code of the terminal frame. */
  readonly error: unknown
}

export async function heard(response: Response): Promise<Heard> {
  const { chunks, done, error } = await readStream(response)
  return { ...assemble(chunks), done, error: error?.['code'] }
}

/** The upstream body for a request with these fields. */
export async function sent(fields: object): Promise<Record<string, unknown>> {
  const { chat, upstream } = await cohereGateway()
  upstream.next(json(answered({})))
  expect((await chat(asking(fields))).status).toBe(200)
  // A request body is always an object.
  return upstream.body() as Record<string, unknown>
}

/** The field for which a strict provider refuses a request. */
export async function refused(fields: object): Promise<unknown> {
  const { chat, upstream } = await cohereGateway('strict = true')
  const response = await chat(asking(fields))
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await readError(response)
  expect(code).toBe('LM-1001')
  return param
}

export const parameters = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

export function tool(name: string, more: object = {}): object {
  return { type: 'function', function: { name, parameters, ...more } }
}

export interface Completion {
  readonly id: string
  readonly choices: readonly {
    readonly message: Record<string, unknown>
    readonly finish_reason: string
    readonly logprobs: unknown
  }[]
  readonly usage: Record<string, unknown>
}

/** The client's completion for an answer of the vendor. */
export async function readCompletion(answer: object, request: object = {}): Promise<Completion> {
  const { chat, upstream } = await cohereGateway()
  upstream.next(json(answer))
  const response = await chat(asking(request))
  expect(response.status).toBe(200)
  return (await response.json()) as Completion
}
