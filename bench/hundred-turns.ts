/**
 * The cost of translating a request, without sockets: the processor time to express a
 * conversation of 100 turns with tools in the dialect of each translated kind, and the same conversation
 * of each other door for two kinds. A separate process that sends the milliseconds by row to its parent
 * and exits.
 */

import { isUtf8 } from 'node:buffer'
import type { ChatEndpoint } from '../src/core/endpoints.ts'
import type { ModelId } from '../src/core/ids.ts'
import type { Model } from '../src/core/provider.ts'
import type { ChatDoor } from '../src/data-plane/index.ts'
import { doors } from '../src/doors/index.ts'
import { getKind } from '../src/providers/index.ts'
import { webClock } from '../src/web/index.ts'
import { CancelScope } from '../src/wire/cancel-scope.ts'
import { TimeSlice } from '../src/wire/time-slice.ts'
import { type Conversation, conversations } from './conversations.ts'
import { vendorStreams } from './vendor-streams.ts'

const requests = 400
/** Warm-up: in a new process the compiler threads are still busy, and their time would count. */
const warmUpRounds = 10

const milliseconds: Record<string, number> = {}
for (const [kind, { model }] of Object.entries(vendorStreams)) {
  milliseconds[kind] = await measure('chat', kind, model)
}
for (const api of ['messages', 'responses'] as const) {
  milliseconds[`${api} to openai`] = await measure(api, 'openai', 'gpt-5')
  milliseconds[`${api} to google`] = await measure(api, 'google', vendorStreams.google.model)
}
milliseconds['responses to anthropic'] = await measure(
  'responses',
  'anthropic',
  vendorStreams.anthropic.model,
)
process.send?.(milliseconds)

/** Returns the processor milliseconds of one request, garbage collection included. */
async function measure(api: Conversation, kind: string, model: string): Promise<number> {
  const door = doors.find((each) => each.api === api)
  if (!door) throw new Error(`there is no door for ${api}`)
  const link = createLink(kind, model)
  const body = new TextEncoder().encode(JSON.stringify(conversations[api]))
  for (let round = 0; round < warmUpRounds; round++) await translateAll(door, { link, body })
  return (await translateAll(door, { link, body })) / requests
}

interface Translation {
  readonly link: Model
  readonly body: Uint8Array
}

/** Returns the processor milliseconds of the whole process. */
async function translateAll(door: ChatDoor, { link, body }: Translation): Promise<number> {
  const slice = new TimeSlice(webClock, new CancelScope(webClock))
  const request = new Request(`http://gateway${door.paths[0]}`)
  // A call caches its parsed parts, so every request needs its own call.
  const calls = await Promise.all(
    Array.from({ length: requests }, () =>
      door.read({ bytes: body, request, slice, clock: webClock, isUtf8 }),
    ),
  )
  const before = process.cpuUsage()
  for (const call of calls) {
    await call.prepareFor?.(link, slice)
    void call.bind(link).buildRequest()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function createLink(kind: string, model: string): Model {
  const chat = findEndpoint(kind, model)
  // Doors read only these members of a link.
  return { id: 'm' as ModelId, upstreamId: model, chat, native: {} } as unknown as Model
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
    profileSettings: [],
    messagesUrl: undefined,
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
