import { assemble, type Outcome, readStream } from '../../support/chunks.ts'
import type { TestGateway } from '../../support/gateway.ts'
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

/** An answer that may take retries: time passes until it is there. */
export async function patiently<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(120_000)
  return answer
}

/** A request with one question, and these fields. */
export function asking(fields: object = {}): object {
  return { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** A whole answer of the vendor with these parts of its message. */
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

/** What a stream comes to, and how it ended. */
export interface Heard extends Outcome {
  readonly done: boolean
  /** The code of the terminal frame. */
  readonly error: unknown
}

export async function heard(response: Response): Promise<Heard> {
  const { chunks, done, error } = await readStream(response)
  return { ...assemble(chunks), done, error: error?.['code'] }
}
