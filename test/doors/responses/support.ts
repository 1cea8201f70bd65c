import { expect } from 'vitest'
import type { GatewayOptions } from '../../../src/index.ts'
import { oneProvider, type TestGateway, testGateway } from '../../support/gateway.ts'

export type Members = Readonly<Record<string, unknown>>

/** An event of a stream, by its members. */
export type StreamEvent = Members & { readonly type: string; readonly sequence_number: number }

/** An item of the output, by the members that tests read. */
export interface OutputItem extends Members {
  readonly id: string
  readonly type: string
  readonly status: string
}

export interface ResponseBody extends Members {
  readonly id: string
  readonly status: string
  readonly output: readonly OutputItem[]
  readonly usage: Members | null
}

export interface ResponsesGateway extends TestGateway {
  /** Sends a request for model `m`. */
  send(body: Members | string, init?: RequestInit): Promise<Response>
  /** Sends a request and returns the response object. Fails on an error. */
  ask(body: Members): Promise<ResponseBody>
  /** Sends a request for a stream and returns its events. Fails on an error. */
  stream(body: Members): Promise<readonly StreamEvent[]>
}

/** Model `m` of a server that speaks only the chat API. */
export const chatOnly: string = oneProvider.replace(
  'kind = "openai"',
  'kind = "openai"\nbase_url = "https://vendor.test/v1"',
)

/** A test gateway with functions for the Responses API. */
export async function responsesGateway(
  config: string = chatOnly,
  options?: Partial<GatewayOptions>,
): Promise<ResponsesGateway> {
  const test = await testGateway(config, options)
  const send: ResponsesGateway['send'] = (body, init) =>
    test.get('/v1/responses', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body }),
      ...init,
    })
  return {
    ...test,
    send,
    async ask(body) {
      const response = await send(body)
      expect(response.status, await response.clone().text()).toBe(200)
      // The tests compare the members that they read.
      return (await response.json()) as ResponseBody
    },
    async stream(body) {
      return readEvents(await send({ stream: true, ...body }))
    },
  }
}

/** Reads a stream to its end. Fails on anything but complete events whose two types agree. */
export async function readEvents(response: Response): Promise<readonly StreamEvent[]> {
  const text = await response.text()
  expect(response.headers.get('content-type'), text).toBe('text/event-stream; charset=utf-8')
  const blocks = text.split('\n\n')
  expect(blocks.pop(), 'the stream ends with a blank line').toBe('')
  return blocks.map((block) => {
    const [, name, data = ''] = /^(?:: ping\n)*event: (.*)\ndata: ([^\n]*)$/.exec(block) ?? []
    // The members are checked by the tests.
    const event = JSON.parse(data) as StreamEvent
    expect(event.type).toBe(name)
    return event
  })
}

/** Returns the response object of the last event. */
export function finalResponse(events: readonly StreamEvent[]): ResponseBody {
  // Every terminal event has one.
  return events.at(-1)?.['response'] as ResponseBody
}

/** Returns a value without the ids and times that differ from answer to answer. */
export function withoutIds(value: unknown): unknown {
  const varying = new Set(['id', 'item_id', 'created_at', 'completed_at'])
  return JSON.parse(JSON.stringify(value, (key, inner) => (varying.has(key) ? undefined : inner)))
}
