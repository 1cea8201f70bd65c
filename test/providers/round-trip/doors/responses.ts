import { finalResponse, type OutputItem, readEvents } from '../../../doors/responses/support.ts'
import { type Door, parameters, type Received } from './door.ts'

/**
 * A client of the Responses API without state. Images and sound of an answer do not come back, and a refusal
 * beside a text comes back as a part of it.
 */
export const responses: Door = {
  name: 'Responses',
  path: '/v1/responses',
  takesMedia: false,
  takesTornCalls: true,
  ask: (input, model) => ({
    model,
    input,
    store: false,
    tools: [{ type: 'function', name: 'f', parameters }],
  }),
  toUser: (content) => ({ role: 'user', content }),
  toResults: (results) =>
    results.map(({ id, input }) => ({
      type: 'function_call_output',
      call_id: id,
      output: input.text,
    })),
  async read(received: Received) {
    const items = await readItems(received)
    const calls = items.filter(({ type }) => type === 'function_call')
    const parts = items.flatMap(({ type, content }) => (type === 'message' ? list(content) : []))
    return {
      shown: {
        content: parts.map(({ text }) => text ?? '').join(''),
        refusal: parts.map(({ refusal }) => refusal ?? '').join(''),
        reasoning: items
          .flatMap(({ type, summary }) => (type === 'reasoning' ? list(summary) : []))
          .map(({ text }) => text)
          .join(''),
        calls: calls.map(({ name, arguments: given }) => ({
          name: String(name),
          arguments: String(given),
        })),
      },
      items,
      callIds: calls.map(({ call_id: id }) => String(id)),
    }
  },
  expect({ shown: { content, refusal = '' }, proven }) {
    const isBoth = content !== '' && refusal !== ''
    return isBoth ? { text: content + refusal } : { turn: proven }
  },
  isNative: () => false,
}

async function readItems({ response, isStreamed }: Received): Promise<readonly OutputItem[]> {
  if (isStreamed) return finalResponse(await readEvents(response)).output
  return ((await response.json()) as { output: OutputItem[] }).output
}

interface Part {
  readonly text?: string
  readonly refusal?: string
}

function list(parts: unknown): readonly Part[] {
  return Array.isArray(parts) ? parts : []
}
