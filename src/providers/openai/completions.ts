import type { StatedCostReader } from '../../core/billing.ts'
import type { NativeCall, NativeEndpoint, StreamEnding } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import type { StreamUsage } from '../../core/provider-kind.ts'
import { unrequestedTexts } from '../../stream/chunk-writer.ts'
import { createErrorParser, type MapStatus } from '../base/vendor-error.ts'
import { type ChoiceForm, parseOpenAiAnswer } from './answer.ts'
import { writeAnswerEvents } from './answer-events.ts'
import { buildVerbatimBody, encodeModel, readStreamOptions } from './body.ts'
import { type ChunkForm, createOpenAiDecoder } from './stream.ts'

export interface OpenAiCompletionsOptions {
  readonly url: string
  readonly upstreamId: string
  /** Whether the gateway asks for usage in streams of clients that did not ask. */
  readonly streamUsage: StreamUsage
  readonly streamEnd?: StreamEnding | undefined
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: MapStatus | undefined
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
}

/**
 * Text completions of an upstream of the OpenAI format: sends the client's bytes with `model` replaced.
 * https://platform.openai.com/docs/api-reference/completions
 */
export function openAiCompletions(options: OpenAiCompletionsOptions): NativeEndpoint {
  const { readCost } = options
  const model = encodeModel(options.upstreamId)
  const usageFor = (call: NativeCall) =>
    readStreamOptions(call)['include_usage'] === true ? 'not-asked' : options.streamUsage
  return {
    buildRequest: (call) => ({
      url: options.url,
      headers: {},
      body: buildVerbatimBody(call, {
        model,
        asksUsage: call.stream && usageFor(call) !== 'not-asked',
      }),
    }),
    parseAnswer: (body) => parseOpenAiAnswer(body, { ...texts, readCost }),
    createDecoder: (call) =>
      createOpenAiDecoder({ form: { ...textChunks, readCost }, usage: usageFor(call) }),
    writeEvents: writeAnswerEvents,
    parseError: createErrorParser(options.mapStatus),
    streamEnd: options.streamEnd ?? 'done',
  }
}

function readText({ text }: RawChoice): string {
  return typeof text === 'string' ? text : ''
}

const texts: ChoiceForm = {
  readText,
  isAnswer: ({ text, finish_reason: reason }) =>
    typeof text === 'string' && (text !== '' || typeof reason === 'string'),
}

const textChunks: ChunkForm = {
  readContent: (choice) => readText(choice) || undefined,
  unrequested: unrequestedTexts,
}
