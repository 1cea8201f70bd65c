import { expect } from 'vitest'
import type { TestGateway } from '../../support/gateway.ts'
import { json, type Responder } from '../../support/scripted-upstream.ts'
import { type WatchedOptions, watchedGateway } from '../../support/watched-gateway.ts'

/** A gateway with a native link `claude`, and a link `m` that speaks chat completions. */
export const twoLinks = `
[[providers]]
name = "a"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "claude", upstream_id = "claude-sonnet-4-5", modalities = ["text", "image"] }]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", upstream_id = "upstream-m", modalities = ["text", "image"] }]
`

export function messagesGateway(
  config: string = twoLinks,
  options: WatchedOptions = {},
): Promise<TestGateway> {
  return watchedGateway(config, options)
}

/** Posts to the Messages API. A string is sent as it is. */
export function post(
  { get }: Pick<TestGateway, 'get'>,
  body: unknown,
  { path = '/v1/messages', ...init }: RequestInit & { readonly path?: string } = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return get(path, { method: 'POST', body: text, ...init })
}

/** A request for model `m` with these fields. */
export function asking(fields: object = {}): object {
  return { model: 'm', max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** An answer of the Messages API. */
export function message(content: readonly object[] = [{ type: 'text', text: 'Hello' }]): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 2 },
  }
}

/** One event of the Messages API. */
export function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** The events of a stream, in order. Each must have its name in `type` too. */
export function parseEvents(stream: string): Record<string, unknown>[] {
  const events = stream.split('\n\n')
  expect(events.pop()).toBe('')
  return events.map((text) => {
    const [name = '', data = '', ...rest] = text.split('\n')
    expect(rest).toEqual([])
    const value = JSON.parse(data.replace(/^data: /, ''))
    expect(name).toBe(`event: ${value.type}`)
    return value
  })
}

/** Sends a request, and returns the chat request that the upstream of `m` got. */
export async function sent(fields: object, config?: string): Promise<Record<string, unknown>> {
  const gateway = await messagesGateway(config)
  gateway.upstream.next(chatAnswer())
  const response = await post(gateway, asking(fields))
  expect(await response.text()).toContain('"type":"message"')
  // The gateway's own JSON is an object.
  return gateway.upstream.body() as Record<string, unknown>
}

/** A chat completion with this message. */
export function chatAnswer(
  answer: object = { content: 'Hello' },
  {
    finish = 'stop',
    usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } as unknown,
  } = {},
): Responder {
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, ...answer },
    finish_reason: finish,
  }
  return json({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, choices: [choice], usage })
}

/** Reads the error of a response in the form of this API. */
export async function readMessagesError(response: Response): Promise<Record<string, unknown>> {
  const body = (await response.json()) as {
    readonly type: string
    readonly error: Record<string, unknown>
    readonly request_id: string
  }
  expect(body.type).toBe('error')
  expect(body.request_id).toBe(response.headers.get('x-request-id'))
  expect(response.headers.get('request-id')).toBe(body.request_id)
  return body.error
}
