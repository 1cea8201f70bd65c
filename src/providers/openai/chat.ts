import type { ChatCall } from '../../core/chat.ts'
import type { AsciiText, BufferedBody } from '../../core/ports.ts'
import type { ChatEndpoint, ChatResult, RequestForm, StreamUsage } from '../../core/provider.ts'
import { renderUsage, type Usage } from '../../core/usage.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { scanLayout } from '../../wire/json-scan.ts'
import { type Splice, setMember, splice } from '../../wire/json-splice.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { estimateVerbatimOutput } from '../base/output-bound.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { joinGeneratedText } from '../canonical/text.ts'
import { toAnswerFailure } from './errors.ts'
import { createOpenAiDecoder } from './stream.ts'
import { readUsage } from './usage.ts'

export interface OpenAiChatOptions {
  readonly url: string
  readonly upstreamId: string
  /** Whether the gateway asks for usage in streams of clients that did not ask. */
  readonly streamUsage: StreamUsage
  readonly isDoneOptional?: boolean | undefined
  readonly form: RequestForm
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: ((status: number, message: string) => number) | undefined
}

/** Chat with an upstream of the OpenAI format: sends the client's bytes with `model` replaced. */
export function openAiChat(options: OpenAiChatOptions): ChatEndpoint {
  const model = encoder.encode(JSON.stringify(options.upstreamId))
  const usageFor = (call: ChatCall) => (call.wantsUsageChunk ? 'not-asked' : options.streamUsage)
  return {
    listUnsupported: () => [],
    buildRequest: (call) => ({
      url: options.url,
      headers: {},
      body: buildBody(call, model, call.stream && usageFor(call) !== 'not-asked'),
    }),
    estimateOutput: estimateVerbatimOutput,
    parseAnswer: readAnswer,
    createDecoder: (call) => createOpenAiDecoder(usageFor(call)),
    parseError: createErrorParser(options.mapStatus),
    isDoneOptional: options.isDoneOptional ?? false,
    form: options.form,
  }
}

function buildBody(call: ChatCall, model: Uint8Array, asksUsage: boolean): Uint8Array {
  const changes: Splice[] = call.layout.spans.model.map((span) => ({ span, json: model }))
  if (asksUsage) {
    const json = JSON.stringify({ ...readStreamOptions(call), include_usage: true })
    changes.push(...setMember(call.layout, 'stream_options', json))
  }
  return splice(call.bytes, changes)
}

/** Parses `stream_options` from the bytes, because the gateway does not keep the parsed request. */
function readStreamOptions({ bytes, layout }: ChatCall): object {
  const last = layout.spans.stream_options.at(-1)
  const options = last && tryParseJson(bytes.subarray(last.start, last.end))
  return isObject(options) ? options : {}
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function readAnswer(body: Uint8Array): ChatResult {
  const text = decoder.decode(body)
  const value = tryParseJson(text)
  if (value === undefined) return malformedResult('the answer is not JSON')
  if (!isObject(value)) return malformedResult('the answer is not a JSON object')
  if (!Array.isArray(value['choices'])) {
    // OpenRouter and similar vendors return an error with status 200.
    if (value['error'] !== undefined && value['error'] !== null) {
      return { ok: false, failure: toAnswerFailure(value) }
    }
    return malformedResult('the answer has no choices')
  }
  const choices = value['choices'].filter(isObject)
  let output = ''
  for (const { message } of choices) if (isObject(message)) output += joinGeneratedText(message)
  return {
    ok: true,
    answer: {
      choices,
      usage: readUsage(value['usage']),
      output,
      outputBytes: countUtf8Bytes(output),
      render: (usage) =>
        usage.estimatedSide ? replaceUsage(body, usage) : asTextIfEqual(text, body),
    },
  }
}

/** Returns the answer as text when that has the same bytes, and as bytes otherwise. */
function asTextIfEqual(text: string, body: Uint8Array): BufferedBody {
  // Equal lengths mean one character per byte, so ASCII, or invalid UTF-8 that decoding replaced.
  return text.length === body.length && !text.includes('\ufffd') ? (text as AsciiText) : body
}

function replaceUsage(body: Uint8Array, usage: Usage): Uint8Array {
  const json = JSON.stringify(renderUsage(usage))
  return splice(body, setMember(scanLayout(body, ['usage']), 'usage', json))
}

function malformedResult(detail: string): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
