import type { StatedCostReader } from '../../core/billing.ts'
import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint } from '../../core/endpoints.ts'
import type { StreamUsage } from '../../core/provider-kind.ts'
import { unrequestedChoices } from '../../stream/chunk-writer.ts'
import { isObject } from '../../wire/json/parse.ts'
import { estimateVerbatimOutput } from '../base/output-bound.ts'
import { encodeJsonBody } from '../base/request.ts'
import { profiledForm } from '../base/request-form.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { hasContent, joinGeneratedText } from '../canonical/text.ts'
import type { ResolvedProfile } from '../profiles/index.ts'
import { type ChoiceForm, parseOpenAiAnswer } from './answer.ts'
import { writeAnswerEvents } from './answer-events.ts'
import { buildVerbatimBody, cutProviderContent, encodeModel } from './body.ts'
import { bindMadeChats } from './made-chat.ts'
import { type ChunkForm, createOpenAiDecoder } from './stream.ts'

export interface OpenAiChatOptions {
  readonly url: string
  readonly upstreamId: string
  /** The client-facing id of the model. */
  readonly modelId: string
  /** Whether the gateway asks for usage in streams of clients that did not ask. */
  readonly streamUsage: StreamUsage
  /** `stream_options.include_usage` is accepted, and needed for usage in streams. */
  readonly asksStreamUsage: boolean
  readonly profile: ResolvedProfile
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: ((status: number, message: string) => number) | undefined
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
}

/**
 * Chat with an upstream of the OpenAI format: sends the client's bytes with `model` replaced, and writes requests
 * of other APIs as the profile of the upstream demands them.
 */
export function openAiChat(options: OpenAiChatOptions): ChatEndpoint {
  const { url, modelId, profile } = options
  const model = encodeModel(options.upstreamId)
  const { readCost } = options
  const answers: ChoiceForm = { ...completions, readCost }
  const chunks: ChunkForm = { ...chatChunks, readCost }
  const made = bindMadeChats(profile, { model: modelId })
  const usageFor = (call: ChatCall) => (call.wantsUsageChunk ? 'not-asked' : options.streamUsage)
  return {
    *translateInSteps(call) {
      if (call.isMade) yield* made.write.inSteps(call)
    },
    listUnsupported: (call) => (call.isMade ? made.write(call).dropped : []),
    buildRequest: (call) => ({
      url,
      headers: {},
      body: call.isMade
        ? encodeJsonBody(made.write(call).body)
        : buildVerbatimBody(call.hasProviderContent ? cutProviderContent(call) : call, {
            model,
            asksUsage: call.stream && usageFor(call) !== 'not-asked',
          }),
    }),
    estimateOutput: estimateVerbatimOutput,
    parseAnswer: (body, call) =>
      parseOpenAiAnswer(body, answers, call.isMade ? made.createReader(call) : undefined),
    createDecoder: (call) =>
      createOpenAiDecoder({
        form: chunks,
        usage: usageFor(call),
        reader: call.isMade ? made.createReader(call) : undefined,
      }),
    writeEvents: writeAnswerEvents,
    parseError: createErrorParser(options.mapStatus),
    streamEnd: profile.profile.streamEnd,
    profile,
    form: {
      ...profiledForm,
      asksStreamUsage: options.asksStreamUsage,
      takesCacheControl: profile.profile.cacheControl,
      takesFileAddresses: profile.profile.fileAddresses,
    },
    writesAnswers: false,
  }
}

const completions: ChoiceForm = {
  readText: ({ message }) => (isObject(message) ? joinGeneratedText(message) : ''),
  isAnswer({ message, finish_reason: reason }) {
    if (!isObject(message)) return false
    // Models do end without a word, and say so.
    return hasContent(message) || (typeof reason === 'string' && isBlank(message['content']))
  },
}

/** True for the contents of a message that has no text; not for those of another type. */
function isBlank(content: unknown): boolean {
  return content === undefined || content === null || content === '' || Array.isArray(content)
}

/** The chunks of chat completions. */
export const chatChunks: ChunkForm = {
  // Azure's filter reports have no delta at all.
  readContent: ({ delta }) =>
    isObject(delta) && hasContent(delta) ? joinGeneratedText(delta) : undefined,
  unrequested: unrequestedChoices,
}
