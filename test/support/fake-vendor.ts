import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A vendor in the OpenAI format on a real socket; the last message of a request selects its behaviour. */
export interface FakeVendor {
  readonly address: string
  /** The JSON body of the last request. */
  lastBody(): unknown
  /** Resolves when the client closes the next connection before its response is complete. */
  nextClose(): Promise<void>
  close(): Promise<void>
}

interface VendorRequest {
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly tools?: readonly unknown[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const head = { id: 'chatcmpl-1', created: 1_764_000_000, model: 'gpt-2026' }

const decided = {
  model: 'gpt-2026',
  answers: [
    { type: 'predicate', name: 'greeting', probability: 0.97 },
    { type: 'refusal', name: null },
  ],
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 11,
  },
}

export async function startFakeVendor(): Promise<FakeVendor> {
  let last: unknown
  let closed: (() => void) | undefined
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body: VendorRequest = JSON.parse(Buffer.concat(pieces).toString())
    last = body
    response.once('close', () => {
      if (!response.writableFinished) closed?.()
    })
    if (request.url?.endsWith('/decisions')) send(response, 200, decided)
    else await answer(body, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    lastBody: () => last,
    nextClose: () =>
      new Promise((resolve) => {
        closed = resolve
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(body: VendorRequest, response: ServerResponse): Promise<void> {
  const lastMessage = body.messages.at(-1)
  const order = String(lastMessage?.content)
  const status = Number(/^status (\d{3})$/.exec(order)?.[1] ?? 200)
  if (status !== 200) {
    const error = {
      message: `status ${status} as requested`,
      type: 'test',
      param: null,
      code: null,
    }
    return send(response, status, { error })
  }
  if (body.stream) return stream(body, order, response)
  const message = messageFor(body, lastMessage?.role)
  const finish = 'tool_calls' in message ? 'tool_calls' : 'stop'
  send(response, 200, {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage,
  })
}

function messageFor({ tools, messages }: VendorRequest, role: string | undefined): object {
  if (role === 'tool') return { role: 'assistant', content: `It is ${messages.at(-1)?.content}` }
  if (!tools) return { role: 'assistant', content: 'Hi there' }
  const call = { name: 'weather', arguments: '{"city":"Lima"}' }
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: call }],
  }
}

async function stream(body: VendorRequest, order: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (fields: object) => {
    const chunk = { ...head, object: 'chat.completion.chunk', ...fields }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  const delta = (value: object, finish: string | null = null) =>
    write({ choices: [{ index: 0, delta: value, finish_reason: finish }] })
  delta({ role: 'assistant', content: '' })
  delta({ content: 'Hi ' })
  if (order === 'endless') return
  if (order === 'die') {
    // The written bytes must leave before the connection ends.
    await new Promise((resolve) => setTimeout(resolve, 20))
    response.destroy()
    return
  }
  if (order === 'slow') await new Promise((resolve) => setTimeout(resolve, 150))
  delta({ content: 'there' })
  delta({}, 'stop')
  if (body.stream_options?.include_usage) write({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
