import type { Frame, FrameDecoder, StreamIdentity } from '../../../core/frame.ts'
import type { Usage } from '../../../core/usage.ts'
import { jsonIn } from '../../../wire/json.ts'
import { type RawEvent, SseSplitter } from '../../../wire/sse.ts'
import { utf8Length } from '../../../wire/utf8.ts'
import { frameFailure } from './failure.ts'
import { generatedText, saysAnything } from './text.ts'
import { isObject, readUsage } from './usage.ts'

/** Reads a stream of OpenAI-shaped chunks, whose bytes the client gets as they are. */
export function openAiFrames(): FrameDecoder {
  const splitter = new SseSplitter()
  return {
    push: (bytes) => splitter.push(bytes).map(frameOf),
    end: () => splitter.end().flatMap(lastFrame),
  }
}

/**
 * The last event of a body may lack its blank line, and gets it here. What was torn in the middle is
 * no frame: shown to a client it would read as broken JSON and hide the error that follows.
 */
function lastFrame(event: RawEvent): Frame[] {
  if (event.closed) return [frameOf(event)]
  const { data, bytes } = event
  if (data === undefined) return []
  const isWhole = data.startsWith('[DONE]') || event.event === 'error' || jsonIn(data) !== undefined
  if (!isWhole) return []
  const missing = bytes.at(-1) === lf ? 1 : 2
  const closed = new Uint8Array(bytes.length + missing).fill(lf)
  closed.set(bytes)
  return [frameOf({ ...event, bytes: closed })]
}

const lf = 0x0a

function frameOf({ bytes, data, event }: RawEvent): Frame {
  const quiet: Frame = { bytes, kind: 'quiet', outputBytes: 0 }
  if (data === undefined) return quiet
  if (data.startsWith('[DONE]')) return { bytes, kind: 'done', outputBytes: 0 }
  const chunk = jsonIn(data)
  if (!isObject(chunk)) {
    return event === 'error' ? { ...quiet, kind: 'error', failure: frameFailure(data) } : quiet
  }
  if (isError(chunk, event)) return { ...quiet, kind: 'error', failure: frameFailure(chunk) }
  return chunkFrame(bytes, chunk)
}

function chunkFrame(bytes: Uint8Array, chunk: Record<string, unknown>): Frame {
  const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : []
  let content = false
  let finished = false
  let output = ''
  for (const choice of choices) {
    if (!isObject(choice)) continue
    if (typeof choice['finish_reason'] === 'string') finished = true
    const delta = choice['delta']
    // Azure's filter reports have no delta at all.
    if (!isObject(delta)) continue
    if (saysAnything(delta)) {
      content = true
      output += generatedText(delta)
    }
  }
  const usage = usageIn(chunk)
  return {
    bytes,
    kind: content || finished ? 'content' : 'quiet',
    usage,
    usageOnly: choices.length === 0 && isObject(chunk['usage']),
    identity: identityOf(chunk),
    output,
    outputBytes: utf8Length(output),
    finished,
  }
}

function usageIn(chunk: Record<string, unknown>): Usage | undefined {
  if (chunk['usage'] !== undefined && chunk['usage'] !== null) return readUsage(chunk['usage'])
  const groq = chunk['x_groq']
  return isObject(groq) ? readUsage(groq['usage']) : undefined
}

/** Azure's first chunk has an empty id, so only a real one identifies the stream. */
function identityOf(chunk: Record<string, unknown>): StreamIdentity | undefined {
  const { id, created, model } = chunk
  if (typeof id !== 'string' || id === '') return undefined
  return {
    id,
    created: typeof created === 'number' ? created : 0,
    model: typeof model === 'string' ? model : '',
  }
}

function isError(chunk: Record<string, unknown>, event: string | undefined): boolean {
  if (event === 'error' || chunk['object'] === 'error') return true
  if (chunk['error'] !== undefined && chunk['error'] !== null) return true
  return chunk['detail'] !== undefined && chunk['choices'] === undefined
}
