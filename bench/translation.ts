/**
 * What translation costs by itself, without sockets: the time of saying a conversation of 100 turns
 * with tools in each translated dialect (at most 1 ms), and the rate at which each turns its
 * vendor's stream into chunks, against reading a verbatim stream in the same run.
 */

import type { ChatEndpoint } from '../src/core/provider.ts'
import { parseChat } from '../src/data-plane/chat-input.ts'
import { kindNamed } from '../src/providers/index.ts'
import { webClock } from '../src/web-ports.ts'
import {
  anthropicStream,
  bedrockStream,
  cohereStream,
  geminiStream,
  openAiStream,
} from './vendor-streams.ts'

const frames = 200

const streams: Readonly<Record<string, readonly Uint8Array[]>> = {
  openai: openAiStream(frames),
  anthropic: anthropicStream(frames),
  google: geminiStream(frames),
  bedrock: bedrockStream(frames),
  cohere: cohereStream(frames),
}

const upstreamIds: Readonly<Record<string, string>> = {
  openai: 'gpt-4o',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  bedrock: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-03-2025',
}

const body = new TextEncoder().encode(JSON.stringify(conversation()))
const streamed = parseChat(
  new TextEncoder().encode(
    '{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
  ),
)

let verbatim = 0
for (const [name, chunks] of Object.entries(streams)) {
  const endpoint = endpointOf(name)
  // A call is read once a request, and its reading is remembered, so each round gets a new one.
  const said =
    fastest(60, () => endpoint.request(parseChat(body))) - fastest(60, () => parseChat(body))
  const rate = frames / fastest(60, () => decode(endpoint, chunks))
  if (name === 'openai') verbatim = rate
  const share = rate / verbatim
  console.log(
    `${name.padEnd(10)} 100 turns ${said.toFixed(3)} ms   ${(rate * 1000).toFixed(0).padStart(9)} frames/s   ${share.toFixed(2)} of verbatim`,
  )
}

function endpointOf(name: string): ChatEndpoint {
  const kind = kindNamed(name)
  const endpoint = kind.chat?.({
    baseUrl: (kind.defaultBaseUrl ?? '').replace('{region}', 'us-east-1'),
    hasOwnBaseUrl: false,
    apiVersion: undefined,
    upstreamId: upstreamIds[name] ?? 'm',
    modelId: 'm',
    streamUsage: false,
    clock: webClock,
    env: { AWS_REGION: 'us-east-1' },
    secret: 'key',
  })
  if (!endpoint) throw new Error(`${name} has no chat`)
  return endpoint
}

function decode(endpoint: ChatEndpoint, chunks: readonly Uint8Array[]): void {
  const decoder = endpoint.frames(streamed, () => undefined)
  let content = 0
  for (const chunk of chunks) {
    for (const frame of decoder.push(chunk)) if (frame.kind === 'content') content++
  }
  if (content < frames) throw new Error(`only ${content} frames came through`)
}

/** Milliseconds of the fastest of many rounds, which is the one that nothing disturbed. */
function fastest(rounds: number, work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    work()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

function conversation(): object {
  const text = 'The quick brown fox jumps over the lazy dog, and then it rests a while. '.repeat(3)
  const tool = (name: string) => ({
    type: 'function',
    function: {
      name,
      description: text,
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city'],
      },
    },
  })
  const turns = Array.from({ length: 25 }, (_, turn) => {
    const id = `call_${turn}`
    const call = {
      id,
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Lima"}' },
    }
    return [
      { role: 'user', content: text },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: text },
      { role: 'assistant', content: text },
    ]
  })
  return {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'system', content: text }, ...turns.flat()],
    tools: ['weather', 'news', 'stocks', 'maps', 'mail'].map(tool),
  }
}
