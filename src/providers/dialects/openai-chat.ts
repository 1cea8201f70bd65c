import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint, ChatReading } from '../../core/provider.ts'
import { isCredible, renderUsage } from '../../core/usage.ts'
import { layoutOf, type Splice, setMember, splice } from '../../wire/json-splice.ts'
import { errorMessage } from './error-message.ts'
import { frameFailure, openAiFrames } from './openai-stream.ts'
import { generatedBytes } from './openai-text.ts'
import { isObject, readUsage } from './openai-usage.ts'

export interface OpenAiChatOptions {
  readonly url: string
  readonly upstreamId: string
  /** Add `stream_options.include_usage` to streamed requests that lack it. */
  readonly injectUsage: boolean
  readonly doneOptional?: boolean | undefined
  /** The vendor's own meaning of a status, where it differs. */
  readonly statusOf?: ((status: number, message: string) => number) | undefined
}

/** Chat with an upstream that speaks the OpenAI format: the client's bytes with the model replaced. */
export function openAiChat(options: OpenAiChatOptions): ChatEndpoint {
  const model = JSON.stringify(options.upstreamId)
  const injects = (call: ChatCall) => options.injectUsage && call.stream && !call.wantsUsageChunk
  return {
    unsupported: () => [],
    request: (call) => ({
      url: options.url,
      headers: {},
      body: requestBody(call, model, injects(call)),
    }),
    answer: readAnswer,
    frames: openAiFrames,
    refusal(status, body) {
      const message = errorMessage(body)
      return { status: options.statusOf?.(status, message) ?? status, message }
    },
    doneOptional: options.doneOptional ?? false,
    addsUsageChunk: injects,
  }
}

function requestBody(call: ChatCall, model: string, injectUsage: boolean): Uint8Array {
  const changes: Splice[] = call.layout.spans.model.map((span) => ({ span, json: model }))
  if (injectUsage) {
    const json = JSON.stringify({ ...call.request.stream_options, include_usage: true })
    changes.push(...setMember(call.layout, 'stream_options', json))
  }
  return splice(call.bytes, changes)
}

const decoder = new TextDecoder()

function readAnswer(body: Uint8Array): ChatReading {
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(body))
  } catch {
    return malformed('the answer is not JSON')
  }
  if (!isObject(value)) return malformed('the answer is not a JSON object')
  if (!Array.isArray(value['choices'])) {
    // OpenRouter and its like put an error into a 200.
    if (value['error'] !== undefined && value['error'] !== null) {
      const failure = frameFailure(value)
      return failure.kind === 'status'
        ? { ok: false, failure }
        : malformed('the answer is an error')
    }
    return malformed('the answer has no choices')
  }
  let outputBytes = 0
  for (const choice of value['choices']) {
    if (isObject(choice) && isObject(choice['message']))
      outputBytes += generatedBytes(choice['message'])
  }
  const usage = readUsage(value['usage'])
  return {
    ok: true,
    answer: {
      usage: isCredible(usage, outputBytes) ? usage : undefined,
      outputBytes,
      render: (estimate) =>
        estimate === undefined
          ? body
          : splice(
              body,
              setMember(layoutOf(body, ['usage']), 'usage', JSON.stringify(renderUsage(estimate))),
            ),
    },
  }
}

function malformed(detail: string): ChatReading {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
