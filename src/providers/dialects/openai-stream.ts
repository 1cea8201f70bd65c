import type { UpstreamFailure } from '../../core/failure.ts'
import type { Frame, FrameDecoder, StreamIdentity } from '../../core/frame.ts'
import type { Usage } from '../../core/usage.ts'
import { type RawEvent, SseSplitter } from '../../wire/sse.ts'
import { messageIn } from './error-message.ts'
import { generatedBytes, saysAnything } from './openai-text.ts'
import { isObject, readUsage } from './openai-usage.ts'

/** Reads a stream of OpenAI-shaped chunks, whose bytes the client gets as they are. */
export function openAiFrames(): FrameDecoder {
  const splitter = new SseSplitter()
  return {
    push: (bytes) => splitter.push(bytes).map(frameOf),
    end: () => splitter.end().map(closeEvent).map(frameOf),
  }
}

/** The last event of a body may lack its blank line; what follows it must still be an event of its own. */
function closeEvent(event: RawEvent): RawEvent {
  const bytes = new Uint8Array(event.bytes.length + 2)
  bytes.set(event.bytes)
  bytes.fill(0x0a, event.bytes.length)
  return { ...event, bytes }
}

function frameOf({ bytes, data, event }: RawEvent): Frame {
  const quiet: Frame = { bytes, kind: 'quiet', outputBytes: 0 }
  if (data === undefined) return quiet
  if (data.startsWith('[DONE]')) return { bytes, kind: 'done', outputBytes: 0 }
  const chunk = parse(data)
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
  let outputBytes = 0
  for (const choice of choices) {
    if (!isObject(choice)) continue
    if (typeof choice['finish_reason'] === 'string') finished = true
    const delta = choice['delta']
    // Azure's filter reports have no delta at all.
    if (!isObject(delta)) continue
    if (saysAnything(delta)) {
      content = true
      outputBytes += generatedBytes(delta)
    }
  }
  const usage = usageIn(chunk)
  return {
    bytes,
    kind: content || finished ? 'content' : 'quiet',
    usage,
    usageOnly: usage !== undefined && choices.length === 0,
    identity: identityOf(chunk),
    outputBytes,
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

/**
 * What an error inside a 200 answer means. One that plainly blames the request, the rate or the
 * credential counts as that status; every other is the upstream's own trouble.
 */
export function frameFailure(error: unknown): UpstreamFailure {
  const message = messageIn(error)
  const status = statusIn(error)
  return status !== undefined
    ? { kind: 'status', status, message }
    : { kind: 'error-frame', message }
}

function statusIn(body: unknown): number | undefined {
  if (!isObject(body)) return undefined
  const error = isObject(body['error']) ? body['error'] : body
  const code = error['code']
  const candidates = [code, error['status'], error['http_status_code'], body['status_code']]
  const status = candidates.map(Number).find((number) => number >= 400 && number < 500)
  if (status !== undefined) return status
  if (error['type'] === 'rate_limit_error' || code === 'rate_limit_exceeded') return 429
  if (error['type'] === 'authentication_error' || code === 'invalid_api_key') return 401
  return error['type'] === 'invalid_request_error' ? 400 : undefined
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
