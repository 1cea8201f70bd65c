import { extractTexts } from '../../../../src/wire/json/text.ts'
import { parseEvents } from '../../../doors/messages/support.ts'
import { RawText } from '../words.ts'
import { type Door, parameters, type Received } from './door.ts'

type Block = Readonly<Record<string, unknown>>

/**
 * A client of the Messages API, which knows its blocks and no others. What this API cannot bring back:
 * - images and sound of an answer;
 * - a call that was cut off;
 * - anything beside the text if a text ends the stream, because no thinking may follow it;
 * - the signature of a text that has neither thinking nor calls beside it.
 */
export const messages: Door = {
  name: 'Messages',
  path: '/v1/messages',
  takesMedia: false,
  takesTornCalls: false,
  ask: (conversation, model) => ({
    model,
    max_tokens: 64,
    messages: conversation,
    tools: [{ name: 'f', input_schema: parameters }],
  }),
  toUser: (content) => ({ role: 'user', content }),
  toResults: (results) => [
    {
      role: 'user',
      content: results.map(({ id, input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: input.text,
      })),
    },
  ],
  async read(received: Received) {
    const content = await readBlocks(received)
    const calls = content.filter(({ type }) => type === 'tool_use')
    return {
      shown: {
        words: join(content, 'text'),
        reasoning: join(content, 'thinking'),
        calls: calls.map(({ name, input }) => ({
          name: String(name),
          arguments: (input as RawText).json,
        })),
      },
      items: [{ role: 'assistant', content }],
      callIds: calls.map(({ id }) => String(id)),
    }
  },
  expect({ shown, proven, isProvenOtherwise }, isStreamed) {
    const { content, refusal = '', reasoning, calls } = shown
    const isAlone = isStreamed || (reasoning === '' && isProvenOtherwise)
    return calls.length === 0 && isAlone ? { text: content || refusal } : { turn: proven }
  },
  isNative: ({ kind }) => kind === 'anthropic',
}

function join(content: readonly Block[], type: string): string {
  return content.map((block) => (block['type'] === type ? (block[type] ?? '') : '')).join('')
}

async function readBlocks({ response, isStreamed }: Received): Promise<readonly Block[]> {
  const body = await response.text()
  if (isStreamed) return collectBlocks(parseEvents(body))
  const inputs = extractTexts(body, 'content.*.input')
  const { content } = JSON.parse(body) as { content: Block[] }
  return content.map((block, at) => {
    const input = inputs.get(`content.${at}.input`)
    return input === undefined ? block : { ...block, input: new RawText(input) }
  })
}

/** Puts the blocks of a stream together, as the official SDK does. */
function collectBlocks(events: readonly Record<string, unknown>[]): readonly Block[] {
  const blocks: Record<string, unknown>[] = []
  for (const { type, index, content_block: start, delta } of events) {
    if (type === 'content_block_start') blocks[Number(index)] = { ...(start as object) }
    if (type === 'content_block_delta') addDelta(blocks[Number(index)] ?? {}, delta as Block)
  }
  return blocks.map(({ partial_json: input, ...block }) =>
    block['type'] === 'tool_use' ? { ...block, input: new RawText(String(input ?? '{}')) } : block,
  )
}

function addDelta(block: Record<string, unknown>, delta: Block): void {
  for (const [name, piece] of Object.entries(delta)) {
    if (name !== 'type') block[name] = `${block[name] ?? ''}${piece}`
  }
}
