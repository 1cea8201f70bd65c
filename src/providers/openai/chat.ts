import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint, RequestForm } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import type { StreamUsage } from '../../core/provider-kind.ts'
import { unrequestedChoices } from '../../stream/chunk-writer.ts'
import { isObject } from '../../wire/json.ts'
import { estimateVerbatimOutput } from '../base/output-bound.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { hasContent, joinGeneratedText } from '../canonical/text.ts'
import { parseOpenAiAnswer } from './answer.ts'
import { buildVerbatimBody, cutProviderContent, encodeModel } from './body.ts'
import { type ChunkForm, createOpenAiDecoder } from './stream.ts'

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
  const model = encodeModel(options.upstreamId)
  const usageFor = (call: ChatCall) => (call.wantsUsageChunk ? 'not-asked' : options.streamUsage)
  return {
    listUnsupported: () => [],
    buildRequest: (call) => ({
      url: options.url,
      headers: {},
      body: buildVerbatimBody(call.hasProviderContent ? cutProviderContent(call) : call, {
        model,
        asksUsage: call.stream && usageFor(call) !== 'not-asked',
      }),
    }),
    estimateOutput: estimateVerbatimOutput,
    parseAnswer: (body) => parseOpenAiAnswer(body, readText),
    createDecoder: (call) =>
      createOpenAiDecoder({
        form: chatChunks,
        usage: usageFor(call),
        readsChoices: call.readsChoices,
      }),
    parseError: createErrorParser(options.mapStatus),
    isDoneOptional: options.isDoneOptional ?? false,
    form: options.form,
    writesAnswers: false,
  }
}

function readText({ message }: RawChoice): string {
  return isObject(message) ? joinGeneratedText(message) : ''
}

/** The chunks of chat completions. */
export const chatChunks: ChunkForm = {
  // Azure's filter reports have no delta at all.
  readContent: ({ delta }) =>
    isObject(delta) && hasContent(delta) ? joinGeneratedText(delta) : undefined,
  unrequested: unrequestedChoices,
}
