import type { StatedCostReader } from '../../core/billing.ts'
import type {
  AnswerBody,
  AnswerResult,
  NativeAnswer,
  NativeEndpoint,
} from '../../core/endpoints.ts'
import { renderResponsesUsage, responsesCounts } from '../../core/responses-usage.ts'
import { listEstimated, type ReportedUsage, type Usage } from '../../core/usage.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { isObject } from '../../wire/json/parse.ts'
import { replaceEach, splice } from '../../wire/json/splice.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { asTextIfEqual } from '../base/answer-text.ts'
import { isHiddenError, toAnswerFailure } from '../base/hidden-error.ts'
import { createErrorParser, type MapStatus } from '../base/vendor-error.ts'
import { writeResponseEvents } from './responses-events.ts'
import { isFilteredResponse, joinOutputTexts } from './responses-output.ts'
import { createResponsesDecoder } from './responses-stream.ts'
import { readResponsesUsage } from './responses-usage.ts'

export interface OpenAiResponsesOptions {
  readonly url: string
  readonly upstreamId: string
  readonly mapStatus?: MapStatus | undefined
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
  /**
   * Reasoning that is plain text is refused, as OpenAI does:
   * https://github.com/querymt/querymt/issues/976, https://github.com/vercel/ai/issues/7543
   */
  readonly refusesUnsigned?: boolean
}

const encoder = new TextEncoder()

/** An upstream's own Responses API: it gets the client's bytes with `model` replaced. */
export function openAiResponses({
  url,
  upstreamId,
  mapStatus,
  readCost,
  refusesUnsigned = false,
}: OpenAiResponsesOptions): NativeEndpoint {
  const model = encoder.encode(JSON.stringify(upstreamId))
  return {
    buildRequest: ({ bytes, layout, headers }) => ({
      url,
      headers,
      body: splice(bytes, replaceEach(layout.spans.model, model)),
    }),
    parseAnswer: (body) => readAnswer(body, readCost),
    createDecoder: () => createResponsesDecoder(readCost),
    writeEvents: writeResponseEvents,
    parseError: createErrorParser(mapStatus),
    streamEnd: 'terminator',
    refusesUnsigned,
  }
}

function readAnswer(
  body: AnswerBody,
  readCost: StatedCostReader | undefined,
): AnswerResult<NativeAnswer> {
  const { value } = body
  if (!isObject(value)) return malformed('the answer is not a JSON object')
  const { status, error, output } = value
  const usage = readResponsesUsage(value, readCost)
  if (status === 'failed') return { ok: false, failure: toAnswerFailure({ error }), usage }
  if (isHiddenError(value, output)) {
    return { ok: false, failure: toAnswerFailure(value), usage }
  }
  if (!Array.isArray(output)) return malformed('the answer has no output')
  // A response without items is one if it says how it ended.
  if (output.length === 0 && typeof status !== 'string') {
    return malformed('the answer is empty', usage)
  }
  const generated = joinOutputTexts(output)
  // A response in the background has only begun, and its usage is not known.
  const isPending = status === 'queued' || status === 'in_progress'
  return {
    ok: true,
    answer: {
      usage,
      output: generated,
      outputBytes: countUtf8Bytes(generated),
      isFiltered: generated === '' && isFilteredResponse(value),
      render: (resolved) =>
        resolved.estimatedSide && !isPending
          ? writeEstimate(body.bytes, resolved)
          : asTextIfEqual(body),
    },
  }
}

function writeEstimate(body: Uint8Array, usage: Usage): Uint8Array {
  const replaced = listEstimated(usage, responsesCounts)
  return mergeIntoMember(body, 'usage', { members: renderResponsesUsage(usage), replaced })
}

function malformed(detail: string, usage?: ReportedUsage): AnswerResult<NativeAnswer> {
  return { ok: false, failure: { kind: 'malformed', detail }, usage }
}
