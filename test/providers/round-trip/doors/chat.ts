import { assemble, type Outcome, readStream, toOutcome } from '../../../support/chunks.ts'
import { type MergedMessage, merges } from '../../../support/merged-deltas.ts'
import type { Input } from '../vendor.ts'
import { type Door, parameters, type Received, type Reply } from './door.ts'

/** A client of chat completions, which sends messages back as its SDK has them. */
export const chat: Door = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  takesMedia: true,
  takesTornCalls: true,
  ask: (messages, model) => ({
    model,
    messages,
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
  }),
  toUser: (content) => ({ role: 'user', content }),
  toResults: (results) =>
    results.map(({ id, input }) => ({
      role: 'tool',
      tool_call_id: id,
      content: toContent(input),
      ...(input.hasFailed && { is_error: true }),
    })),
  async read({ response, isStreamed, chance }: Received) {
    if (!isStreamed) {
      const outcome = toOutcome(await response.json())
      return toReply(outcome, outcome.message as MergedMessage)
    }
    const { chunks } = await readStream(response)
    const merge = chance.pick(Object.values(merges))
    return toReply(assemble(chunks), await merge(chunks))
  },
  expect: ({ back }) => ({ turn: back }),
  isNative: () => false,
}

function toContent({ text: said, png }: Input): unknown {
  if (png === undefined) return said
  const url = `data:image/png;base64,${png}`
  return [
    { type: 'text', text: said },
    { type: 'image_url', image_url: { url } },
  ]
}

function toReply(outcome: Outcome, message: MergedMessage): Reply {
  const { content, reasoning, refusal, annotations, calls } = outcome
  const called = calls.map((call) => call.function)
  const made = (message['tool_calls'] ?? []) as readonly { readonly id: string }[]
  return {
    shown: { content: content ?? '', reasoning, refusal, annotations, calls: called },
    items: [message],
    callIds: made.map(({ id }) => id),
  }
}
