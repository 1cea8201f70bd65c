import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import type { Chunk } from './chunks.ts'

/** An assistant message as an SDK returns it; the user sends it back. */
export type MergedMessage = Readonly<Record<string, unknown>>

export type Merge = (chunks: readonly Chunk[]) => Promise<MergedMessage>

/** The ways in which SDKs merge the deltas of a stream into a message, by name. */
export const merges: Readonly<Record<string, Merge>> = {
  'the official SDK, which assigns what it does not know': bySdk,
  'lists appended': async (chunks) => parseDeltas(chunks).reduce(appending, {}),
  'lists merged by index, as the official Python SDK does': async (chunks) =>
    parseDeltas(chunks).reduce(byIndex, {}),
}

async function bySdk(chunks: readonly Chunk[]): Promise<MergedMessage> {
  const lines = chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join('')
  const body = new Response(lines).body as ReadableStream
  const { message } = (await ChatCompletionStream.fromReadableStream(body).finalChatCompletion())
    .choices[0] as { message: object }
  return { ...message }
}

type Delta = Record<string, unknown>

function parseDeltas(chunks: readonly Chunk[]): Delta[] {
  return chunks.flatMap(({ choices }) => choices.map(({ delta }) => ({ ...delta })))
}

/** Concatenates texts and lists, and merges tool calls by index. */
function appending(message: Delta, delta: Delta): Delta {
  const { thinking_blocks: blocks, ...others } = delta
  const known = message['thinking_blocks']
  const joined = [...(Array.isArray(known) ? known : []), ...(Array.isArray(blocks) ? blocks : [])]
  const { thinking_blocks: _, ...rest } = message
  return { ...byIndex(rest, others), ...(joined.length > 0 && { thinking_blocks: joined }) }
}

/**
 * `accumulate_delta` of the official Python package: adds texts and numbers, merges objects,
 * and requires an `index` on the items of an existing list.
 */
function byIndex(message: Delta, delta: Delta): Delta {
  const merged: Delta = { ...message }
  for (const [name, value] of Object.entries(delta)) {
    const known = merged[name]
    if (known === undefined || known === null || name === 'index' || name === 'type') {
      merged[name] = value
    } else if (typeof known === 'string' && typeof value === 'string') {
      merged[name] = known + value
    } else if (Array.isArray(known) && Array.isArray(value)) {
      merged[name] = value.reduce(itemByIndex, known)
    } else if (typeof known === 'object' && typeof value === 'object') {
      merged[name] = byIndex(known as Delta, value as Delta)
    }
  }
  return merged
}

function itemByIndex(items: readonly Delta[], item: Delta): Delta[] {
  const { index } = item
  if (typeof index !== 'number') throw new Error('an item of a list that has begun has no index')
  const known = items[index]
  if (!known) return [...items, item]
  return items.with(index, byIndex(known, item))
}
