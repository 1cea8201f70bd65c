import type {
  AnswerBody,
  AnswerResult,
  NativeAnswer,
  NativeCall,
  NativeEndpoint,
} from '../../core/endpoints.ts'
import {
  type CountNames,
  isCount,
  listEstimated,
  type ReportedUsage,
  type Usage,
} from '../../core/usage.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { asTextIfEqual } from '../base/answer-text.ts'
import { toShapeFailure } from '../base/hidden-error.ts'
import { isEmptyCandidate } from './answer.ts'
import { readChunkList } from './chunk-list.ts'
import { parseError, parseFailure } from './errors.ts'
import { writeAnswerEvent } from './events.ts'
import { findFailedFinish } from './finish-reason.ts'
import type { GeminiModel } from './models.ts'
import { joinOutput } from './native-output.ts'
import { NativeStream } from './native-stream.ts'
import {
  type AnswerContext,
  isPlainResponse,
  listCandidates,
  parseGeminiResponse,
  readServedTier,
} from './response.ts'
import { countTools } from './tool-calls.ts'
import { methodUrl } from './url.ts'
import { parseUsage } from './usage.ts'

export interface NativeGeminiTarget {
  readonly model: GeminiModel
  /** The address of the model. `:generateContent` is appended to its path; its query is kept. */
  readonly modelUrl: URL
  readonly bodies: NativeBodies
}

/** What a service takes of the bodies of clients, of which all other bytes pass. */
export interface NativeBodies {
  writeRequest(call: NativeCall): Uint8Array
  writeCount(call: NativeCall): Uint8Array
}

/** The Gemini API for clients that speak it too: bytes pass as they are, and the model is in the address. */
export function bindGemini({ model, modelUrl, bodies }: NativeGeminiTarget): NativeEndpoint {
  const answerUrl = methodUrl(modelUrl, 'generateContent').href
  const eventsUrl = methodUrl(modelUrl, 'streamGenerateContent')
  // The gateway frames the chunks for its client, who may have asked for a JSON array.
  eventsUrl.searchParams.set('alt', 'sse')
  const streamUrl = eventsUrl.href
  const countUrl = methodUrl(modelUrl, 'countTokens').href
  return {
    buildRequest: (call) => ({
      url: call.stream ? streamUrl : answerUrl,
      headers: {},
      body: bodies.writeRequest(call),
    }),
    parseAnswer: (body, header) => readAnswer(body, { model, header }),
    createDecoder: (_, header) => new NativeStream({ model, header }),
    writeEvents: writeAnswerEvent,
    readList: readChunkList,
    parseError,
    streamEnd: 'terminator',
    counting: {
      buildRequest: (call) => ({ url: countUrl, headers: {}, body: bodies.writeCount(call) }),
      isCount: (body) => {
        const value = tryParseJson(body)
        return isObject(value) && isCount(value['totalTokens'])
      },
    },
  }
}

/** The names of the counts of `usageMetadata`. */
const geminiCounts: CountNames = Object.freeze({
  prompt: ['promptTokenCount'],
  completion: ['candidatesTokenCount'],
  always: ['totalTokenCount'],
})

function readAnswer(
  body: AnswerBody,
  { model, header }: Pick<AnswerContext, 'model' | 'header'>,
): AnswerResult<NativeAnswer> {
  const { text, value } = body
  const response = isPlainResponse(value) ? value : parseGeminiResponse(text, value)
  if (!response) return misshapen(value, 'the answer is not a GenerateContentResponse')
  const candidates = listCandidates(response)
  const usage = parseUsage(response.usageMetadata, {
    tier: readServedTier(header),
    tools: countTools(candidates, model.generation),
  })
  const failure = parseFailure(value) ?? findFailedFinish(candidates)
  if (failure) return { ok: false, failure, usage }
  if (candidates.every(isEmptyCandidate)) return misshapen(value, 'the answer is empty', usage)
  const output = joinOutput(response)
  return {
    ok: true,
    answer: {
      usage,
      output,
      outputBytes: countUtf8Bytes(output),
      render: (resolved) =>
        resolved.estimatedSide ? writeEstimate(body.bytes, resolved) : asTextIfEqual(body),
    },
  }
}

function writeEstimate(body: Uint8Array, usage: Usage): Uint8Array {
  const { promptTokens, completionTokens, totalTokens } = usage
  const members = {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens,
    totalTokenCount: totalTokens,
    estimated: true,
  }
  return mergeIntoMember(body, 'usageMetadata', {
    members,
    replaced: listEstimated(usage, geminiCounts),
  })
}

function misshapen(
  value: unknown,
  detail: string,
  usage?: ReportedUsage,
): AnswerResult<NativeAnswer> {
  return { ok: false, failure: toShapeFailure(value, detail), usage }
}
