/**
 * The cost of translating a request, without sockets: the processor time to express a
 * conversation of 100 turns with tools in the dialect of each translated kind. A separate process
 * that sends the milliseconds by kind to its parent and exits.
 */
import type { ChatEndpoint } from '../src/core/provider.ts'
import { readChat } from '../src/doors/chat/request.ts'
import { getKind } from '../src/providers/index.ts'
import { webClock } from '../src/web/index.ts'
import { CancelScope } from '../src/wire/cancel-scope.ts'
import { TimeSlice } from '../src/wire/time-slice.ts'
import { vendorStreams } from './vendor-streams.ts'

const requests = 400
/** Warm-up: in a new process the compiler threads are still busy, and their time would count. */
const warmUpRounds = 10
const body = new TextEncoder().encode(JSON.stringify(conversation()))

const milliseconds: Record<string, number> = {}
for (const [kind, { model }] of Object.entries(vendorStreams)) {
  const endpoint = findEndpoint(kind, model)
  for (let round = 0; round < warmUpRounds; round++) await sayAll(endpoint)
  milliseconds[kind] = (await sayAll(endpoint)) / requests
}
process.send?.(milliseconds)

/** The processor milliseconds of the whole process, garbage collection included. */
async function sayAll(endpoint: ChatEndpoint): Promise<number> {
  // A call caches its parsed parts, so every request needs its own call.
  const slice = new TimeSlice(webClock, new CancelScope(webClock))
  const calls = await Promise.all(
    Array.from({ length: requests }, () => readChat({ bytes: body, slice })),
  )
  const before = process.cpuUsage()
  for (const call of calls) void endpoint.buildRequest(call)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function findEndpoint(name: string, model: string): ChatEndpoint {
  const kind = getKind(name)
  const endpoint = kind.chat?.({
    baseUrl: (kind.defaultBaseUrl ?? '').replace('{region}', 'us-east-1'),
    hasCustomBaseUrl: false,
    apiVersion: undefined,
    upstreamId: model,
    modelId: 'm',
    maxOutputTokens: undefined,
    takesEffort: true,
    streamUsage: 'not-asked',
    speaksResponses: undefined,
    mayAskUsage: true,
    forwardsMediaUrls: false,
    clock: webClock,
    env: { AWS_REGION: 'us-east-1' },
    secret: 'key',
  })
  if (!endpoint) throw new Error(`${name} has no chat`)
  return endpoint
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
