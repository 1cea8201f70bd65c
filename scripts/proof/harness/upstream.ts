import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../../../test/support/seeded-random.ts'
import { maxTokens } from './prices.ts'

/**
 * Starts a vendor in OpenAI's format whose answers differ in their length, and take up to 30 ms.
 * Returns its port. It ends with this process.
 */
export async function startUpstream(): Promise<number> {
  const random = randomFrom(1)
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const usage = {
      prompt_tokens: 5 + Math.floor(random() * 20),
      completion_tokens: 1 + Math.floor(random() * maxTokens),
    }
    await sleep(random() * 30)
    if (body.includes('"stream":true')) await stream(response, usage)
    else response.setHeader('content-type', 'application/json').end(toAnswer(usage))
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  // A TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port
}

interface Counts {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

function toAnswer(counts: Counts): string {
  const message = { role: 'assistant', content: 'Hi' }
  return JSON.stringify({
    id: 'chatcmpl-proof',
    object: 'chat.completion',
    created: 1_764_000_000,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: withTotal(counts),
  })
}

async function stream(response: ServerResponse, counts: Counts): Promise<void> {
  const write = (members: object) =>
    response.write(`data: ${JSON.stringify({ ...identity, ...members })}\n\n`)
  response.setHeader('content-type', 'text/event-stream')
  write({
    choices: [{ index: 0, delta: { role: 'assistant', content: 'H' }, finish_reason: null }],
  })
  await sleep(5)
  write({ choices: [{ index: 0, delta: { content: 'i' }, finish_reason: 'stop' }] })
  write({ choices: [], usage: withTotal(counts) })
  response.end('data: [DONE]\n\n')
}

const identity = {
  id: 'chatcmpl-proof',
  object: 'chat.completion.chunk',
  created: 1_764_000_000,
  model: 'm',
}

function withTotal(counts: Counts) {
  return { ...counts, total_tokens: counts.prompt_tokens + counts.completion_tokens }
}
