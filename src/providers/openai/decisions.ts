import type { StatedCostReader } from '../../core/billing.ts'
import type { DecisionForm } from '../../core/decisions.ts'
import type {
  AnswerBody,
  AnswerResult,
  DecisionAnswer,
  DecisionEndpoint,
} from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { isCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { replaceEach, splice } from '../../wire/json/splice.ts'
import { isHiddenError, toAnswerFailure, toShapeFailure } from '../base/hidden-error.ts'
import { buildOperationUrl } from '../base/request.ts'
import { createErrorParser, type MapStatus } from '../base/vendor-error.ts'
import { createCostReader } from './billing.ts'
import { encodeModel } from './body.ts'
import { readResponsesUsage } from './responses-usage.ts'
import { readAnswerUsage } from './usage.ts'

/** How decisions of an upstream differ from the usual. */
export interface DecisionQuirks {
  /** The form of its requests and answers, where the configuration names none. */
  readonly form: DecisionForm
  /** Its address for them; by default `/decisions` or `/systemone` behind the address of the provider. */
  readonly buildUrl?: (target: DialectTarget) => string
  /** An answer may be the member `result` of an envelope. */
  readonly hasEnvelope?: boolean
  /** `usage.cost` of an answer is what it costs, also where nothing else there says so. */
  readonly statesCost?: boolean
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: MapStatus | undefined
}

/**
 * Decisions of an upstream that takes one of the two forms: the client's bytes with `model` replaced.
 * https://platform.openai.com/docs/api-reference/decisions, https://docs.typesafe.ai
 */
export function bindDecisions(target: DialectTarget, quirks: DecisionQuirks): DecisionEndpoint {
  const form = target.decisionForm ?? quirks.form
  const url = findUrl(target, { ...quirks, form })
  const model = encodeModel(target.upstreamId)
  const readers: Readers = {
    readCost: target.readCost,
    readPlainCost: quirks.statesCost ? readPlainCost : undefined,
  }
  return {
    form,
    buildRequest: ({ bytes, layout, headers }) => ({
      url,
      headers,
      body: splice(bytes, replaceEach(layout.spans.model, model)),
    }),
    parseAnswer: (body) =>
      readAnswer(quirks.hasEnvelope ? openEnvelope(body) : wholeAnswer(body), form, readers),
    parseError: createErrorParser(quirks.mapStatus),
  }
}

/** Both forms of an address with the version path: https://github.com/openai/openai-node, https://docs.typesafe.ai */
const operations = { openai: '/decisions', typesafe: '/systemone' } as const

function findUrl(target: DialectTarget, { form, buildUrl }: DecisionQuirks): string {
  const { baseUrl, decisionsPath } = target
  if (decisionsPath !== undefined) return new URL(decisionsPath, baseUrl).href
  return buildUrl?.(target) ?? buildOperationUrl(baseUrl, '/v1', operations[form])
}

/** The bytes of an answer with its value, and the value of everything around it. */
interface OpenedAnswer {
  readonly bytes: Uint8Array
  readonly value: unknown
  readonly outer: unknown
}

function wholeAnswer({ bytes, value }: AnswerBody): OpenedAnswer {
  return { bytes, value, outer: value }
}

/** Cuts the answer out of its envelope, byte for byte. */
function openEnvelope(body: AnswerBody): OpenedAnswer {
  const { bytes, value: outer } = body
  if (!isObject(outer) || outer['answers'] !== undefined) return { bytes, value: outer, outer }
  const value = outer['result']
  const span = scanLayout(bytes, ['result']).spans.result.at(-1)
  if (!isObject(value) || !span) return { bytes, value: outer, outer }
  return { bytes: bytes.subarray(span.start, span.end), value, outer }
}

interface Readers {
  readonly readCost: StatedCostReader | undefined
  readonly readPlainCost: StatedCostReader | undefined
}

function readAnswer(
  { bytes, value, outer }: OpenedAnswer,
  form: DecisionForm,
  readers: Readers,
): AnswerResult<DecisionAnswer> {
  if (!isObject(value)) return failShape(outer)
  const usage =
    readUsage(value, readers) ?? (isObject(outer) ? readUsage(outer, readers) : undefined)
  const answers = listAnswers(value['answers'], form)
  if (isObject(outer) && isHiddenError(outer, answers)) {
    return { ok: false, failure: toAnswerFailure(outer), usage }
  }
  // Every request has a question.
  if (!answers || answers.length === 0) return failShape(outer, usage)
  const refusals = answers.filter((answer) => isObject(answer) && answer['type'] === 'refusal')
  return { ok: true, answer: { body: bytes, usage, refusals: refusals.length } }
}

function failShape(body: unknown, usage?: ReportedUsage): AnswerResult<DecisionAnswer> {
  return { ok: false, failure: toShapeFailure(body, 'the answer has no decisions'), usage }
}

/** Undefined for answers in the other form. */
function listAnswers(answers: unknown, form: DecisionForm): readonly unknown[] | undefined {
  if (form === 'openai') return Array.isArray(answers) ? answers : undefined
  return isObject(answers) ? Object.values(answers) : undefined
}

/**
 * Reads the usage: in the names of the Responses API, or of chat completions. `cached_input_tokens`: Fireworks.
 * https://docs.fireworks.ai, https://github.com/BerriAI/litellm/tree/main/litellm/llms
 */
function readUsage(
  answer: JsonObject,
  { readCost, readPlainCost }: Readers,
): ReportedUsage | undefined {
  const read = readResponsesUsage(answer, readCost) ?? readAnswerUsage(answer, readCost)
  const { usage } = answer
  if (!read || !isObject(usage)) return read
  const {
    cached_input_tokens: cachedInput,
    cached_tokens: cached,
    cache_write_tokens: written,
  } = usage
  const statedCost = read.billing?.statedCost ?? readPlainCost?.(answer)
  return {
    ...read,
    cachedTokens: read.cachedTokens ?? toCount(cachedInput) ?? toCount(cached),
    cacheWriteTokens: read.cacheWriteTokens ?? toCount(written),
    billing: statedCost === undefined ? read.billing : { ...read.billing, statedCost },
  }
}

const readPlainCost = createCostReader({ path: 'usage.cost', unit: 'usd' })

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
