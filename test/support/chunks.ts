import { expect } from 'vitest'

/** The content of a chat completion, streamed or not. */
export interface Outcome {
  readonly content: string | null
  readonly reasoning: string
  readonly refusal: string
  readonly annotations: readonly object[]
  readonly calls: readonly ToolCall[]
  readonly finish: string | null
  readonly usage: Record<string, unknown> | undefined
  /** The message as a client would send it back. */
  readonly message: object
}

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

interface Message {
  readonly role: string
  readonly content: string | null
  readonly reasoning_content?: string
  readonly refusal?: string | null
  readonly annotations?: readonly object[]
  readonly tool_calls?: readonly ToolCall[]
}

interface Completion {
  readonly choices: readonly [
    { readonly message: Message; readonly finish_reason: string },
    ...unknown[],
  ]
  readonly usage?: Record<string, unknown>
}

export interface Chunk {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: Partial<Omit<Message, 'annotations' | 'tool_calls'>> & {
      readonly annotations?: readonly { readonly index: number }[]
      readonly tool_calls?: readonly CallDelta[]
    }
    readonly finish_reason: string | null
  }[]
  readonly usage?: Record<string, unknown> | null
}

interface CallDelta {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

/** A stream as read by its client. */
export interface ReadStream {
  readonly chunks: readonly Chunk[]
  /** The terminal error frame, if any. */
  readonly error: Record<string, unknown> | undefined
  /** `[DONE]` was the last frame. */
  readonly done: boolean
}

/** Returns the payloads of an event stream. Fails on anything but complete `data:` frames and comments. */
export async function parsePayloads(response: Response): Promise<unknown[]> {
  const frames = (await response.text()).split('\n\n')
  expect(frames.pop(), 'the stream ends with a blank line').toBe('')
  return frames.map((frame) => {
    const data = frame.replace(/^(?:: ping\n)*data: /, '')
    expect(data, 'a frame is one line of data').not.toMatch(/\n|^data/)
    return data === '[DONE]' ? data : JSON.parse(data)
  })
}

/** Reads a stream to its end. Fails if anything follows a terminator. */
export async function readStream(response: Response): Promise<ReadStream> {
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const payloads = await parsePayloads(response)
  const last = payloads.at(-1)
  const done = last === '[DONE]'
  const error = isErrorFrame(last) ? last.error : undefined
  // The rest are chunks, or `assemble` fails on them.
  const chunks = (done || error ? payloads.slice(0, -1) : payloads) as Chunk[]
  return { chunks, error, done }
}

function isErrorFrame(payload: unknown): payload is { error: Record<string, unknown> } {
  return typeof payload === 'object' && payload !== null && 'error' in payload
}

/**
 * Adds chunks up like a client and checks what clients rely on: one identity, the role on the first
 * delta, ids and names of calls only where they open, one finish reason.
 */
export function assemble(chunks: readonly Chunk[]): Outcome {
  const [first] = chunks
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] =
    []
  const annotations: object[] = []
  let [content, reasoning, refusal] = ['', '', '']
  let spoke = false
  let finish: string | null = null
  let usage: Record<string, unknown> | undefined
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({
      id: first?.id,
      object: 'chat.completion.chunk',
      created: first?.created,
      model: first?.model,
    })
    if (chunk.usage) usage = chunk.usage
    for (const { index, delta, finish_reason } of chunk.choices) {
      expect(index).toBe(0)
      if (!spoke) expect(delta.role, 'the role comes first').toBe('assistant')
      spoke = true
      expect(finish !== null && Object.keys(delta).length > 0, 'nothing after the end').toBe(false)
      if (finish_reason !== null) {
        expect(finish, 'one finish reason').toBe(null)
        finish = finish_reason
      }
      content += delta.content ?? ''
      reasoning += delta.reasoning_content ?? ''
      refusal += delta.refusal ?? ''
      for (const { index: place, ...annotation } of delta.annotations ?? []) {
        expect(place, 'annotations are numbered from 0').toBe(annotations.length)
        annotations.push(annotation)
      }
      for (const piece of delta.tool_calls ?? []) addCall(calls, piece)
    }
  }
  const text = content === '' && calls.length > 0 ? null : content
  return {
    content: text,
    reasoning,
    refusal,
    annotations,
    calls,
    finish,
    usage,
    message: {
      role: 'assistant',
      content: text,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  }
}

function addCall(
  calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[],
  { index, id, type, function: { name, arguments: text = '' } = {} }: CallDelta,
): void {
  const open = calls[index]
  if (open) {
    expect([id, type, name], 'only the opening delta names the call').toEqual([
      undefined,
      undefined,
      undefined,
    ])
    open.function.arguments += text
    return
  }
  expect(index, 'calls are numbered from 0').toBe(calls.length)
  expect(type).toBe('function')
  calls.push({ id: id ?? '', type: 'function', function: { name: name ?? '', arguments: text } })
}

/** Returns the same for a response that was not streamed. */
export function toOutcome(answer: unknown): Outcome {
  // A member of another type fails the comparison in the test.
  const { choices, usage } = answer as Completion
  const { message, finish_reason } = choices[0]
  return {
    content: message.content,
    reasoning: message.reasoning_content ?? '',
    refusal: message.refusal ?? '',
    annotations: message.annotations ?? [],
    calls: message.tool_calls ?? [],
    finish: finish_reason,
    usage,
    message,
  }
}
