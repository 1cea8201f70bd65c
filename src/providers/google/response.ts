import * as z from 'zod'
import type { HeaderReader } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import type { Steps } from '../../core/steps.ts'
import { isObject } from '../../wire/json/parse.ts'
import { RawJson } from '../../wire/json/raw.ts'
import { extractItems, extractTexts, minifyJson } from '../../wire/json/text.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { normalizeArguments } from '../canonical/completion.ts'
import type { GeminiModel } from './models.ts'

const partialArg = z.object({
  jsonPath: z.string(),
  stringValue: z.string().nullish(),
  // `restoreArguments` sets the number as the vendor wrote it: parsing it could round it.
  numberValue: z
    .unknown()
    .optional()
    .transform((): RawJson | undefined => undefined),
  boolValue: z.boolean().nullish(),
})

const functionCall = z.object({
  id: z.string().nullish(),
  name: z.string().nullish(),
  // `restoreArguments` sets the text as the vendor wrote it.
  args: z
    .unknown()
    .optional()
    .transform(() => '{}'),
  // Only with `streamFunctionCallArguments`: pieces of the arguments, each with its JSONPath.
  partialArgs: z.array(partialArg).nullish(),
  willContinue: z.boolean().nullish(),
})

const part = z.looseObject({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  functionCall: functionCall.nullish(),
  inlineData: z.object({ mimeType: z.string().nullish(), data: z.string().nullish() }).nullish(),
})

const token = z.object({ token: z.string().nullish(), logProbability: z.number().nullish() })

const logprobsResult = z.object({
  chosenCandidates: z.array(token).nullish(),
  topCandidates: z.array(z.object({ candidates: z.array(token).nullish() })).nullish(),
})

const candidate = z.object({
  index: z.int().nonnegative().nullish(),
  content: z.object({ parts: z.array(part).nullish() }).nullish(),
  finishReason: z.string().nullish(),
  finishMessage: z.string().nullish(),
  groundingMetadata: z.unknown().optional(),
  citationMetadata: z.unknown().optional(),
  urlContextMetadata: z.unknown().optional(),
  logprobsResult: logprobsResult.nullish(),
})

const response = z.object({
  responseId: z.string().nullish(),
  candidates: z.array(candidate).nullish(),
  promptFeedback: z
    .object({ blockReason: z.string().nullish(), blockReasonMessage: z.string().nullish() })
    .nullish(),
  usageMetadata: z.unknown().optional(),
})

/**
 * A `GenerateContentResponse`: a whole answer, or one event of a stream.
 * https://ai.google.dev/api/generate-content
 */
export type GeminiResponse = z.infer<typeof response>
export type GeminiCandidate = z.infer<typeof candidate>
export type GeminiPart = z.infer<typeof part>
export type GeminiCall = z.infer<typeof functionCall>
export type PartialArg = z.infer<typeof partialArg>
export type LogprobsResult = z.infer<typeof logprobsResult>
export type TokenLogprob = z.infer<typeof token>

/**
 * Parses a response from its text and its JSON value; undefined when the value has another shape.
 */
export function parseGeminiResponse(json: string, value: unknown): GeminiResponse | undefined {
  const { data } = response.safeParse(value)
  if (data) restoreArguments(data, json)
  return data
}

/**
 * True for a value that its schema takes as it is: texts alone, as most answers are. Checking it takes a fraction of the
 * time of the schema.
 */
export function isPlainResponse(value: unknown): value is GeminiResponse {
  if (!isObject(value)) return false
  const { candidates, promptFeedback, responseId } = value
  return (
    promptFeedback === undefined &&
    typeof responseId === 'string' &&
    Array.isArray(candidates) &&
    candidates.every(isPlainCandidate)
  )
}

function isPlainCandidate(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value) if (!plainMembers.has(name)) return false
  const { content, finishReason, index } = value
  const isNamed = typeof finishReason === 'string' && Number.isSafeInteger(index)
  if (!isNamed || (index as number) < 0 || !isObject(content)) return false
  const { parts: given } = content
  return Array.isArray(given) && given.every(isPlainPart)
}

const plainMembers: ReadonlySet<string> = new Set(['content', 'finishReason', 'index'])

function isPlainPart(value: unknown): boolean {
  if (!isObject(value) || typeof value['text'] !== 'string') return false
  for (const name in value) if (name !== 'text') return false
  return true
}

/** Does the same for a whole answer. */
export function* parseGeminiAnswer(
  json: string,
  value: unknown,
): Steps<GeminiResponse | undefined> {
  const { data } = response.safeParse(value)
  if (!data) return undefined
  yield
  restoreArguments(data, json)
  yield
  return data
}

/** Returns the JSON text of a part, by the places of its candidate and of itself. */
export type PartReader = (candidate: number, part: number) => string

/** Creates a reader of a response, which searches it when it is called first. */
export function createPartReader(json: string): PartReader {
  const find = createItemFinder(json, '*')
  return (candidateAt, partAt) => find(candidateAt, partAt) ?? '{}'
}

const parts = 'candidates.*.content.parts'
const numbersOfCall = `${parts}.*.functionCall.partialArgs.*.numberValue`

/** Returns a function that finds the text at a pattern in the parts of a candidate, by the index of the part. */
function createItemFinder(
  json: string,
  pattern: string,
): (candidate: number, part: number) => string | undefined {
  let lists: ReadonlyMap<number, string> | undefined
  const found = new Map<number, ReadonlyMap<number, string>>()
  return (candidateAt, partAt) => {
    lists ??= extractItems(json, parts)
    const texts = found.get(candidateAt) ?? extractItems(lists.get(candidateAt) ?? '', pattern)
    found.set(candidateAt, texts)
    return texts.get(partAt)
  }
}

/**
 * Sets the arguments of all calls to the vendor's text, without the white space that the service
 * adds between tokens of answers that are not streamed.
 */
function restoreArguments({ candidates }: GeminiResponse, json: string): void {
  let findArguments: ReturnType<typeof createItemFinder> | undefined
  let numbers: ReadonlyMap<string, string> | undefined
  // `forEach` allocates no iterator: this runs for each stream event, and few of them have a call.
  candidates?.forEach(({ content }, c) => {
    content?.parts?.forEach(({ functionCall: made }, p) => {
      if (!made) return
      findArguments ??= createItemFinder(json, '*.functionCall.args')
      made.args = minifyJson(normalizeArguments(findArguments(c, p)))
      made.partialArgs?.forEach((piece, n) => {
        numbers ??= extractTexts(json, numbersOfCall)
        const path = `candidates.${c}.content.parts.${p}.functionCall.partialArgs.${n}`
        const number = numbers.get(`${path}.numberValue`)
        if (number !== undefined && number !== 'null') piece.numberValue = new RawJson(number)
      })
    })
  })
}

/**
 * A candidate with its index among the choices, and the service's message when it blocked the
 * prompt.
 */
export type IndexedCandidate = GeminiCandidate & {
  readonly index: number
  /** Its place in the response. */
  readonly position: number
  readonly refusal?: string | undefined
}

/** What an answer is read with. */
export interface AnswerContext {
  readonly target: DialectTarget
  readonly model: GeminiModel
  /** Reads a header of the answer. */
  readonly header: HeaderReader
  /** The names of the tools of the request. */
  readonly names: ToolNames
}

/** Reads the tier that served. https://ai.google.dev/gemini-api/docs/service-tiers */
export function readServedTier(header: HeaderReader): string | undefined {
  return header('x-gemini-service-tier')
}

/**
 * Returns the candidates sorted by index; a missing index defaults to the position. A blocked
 * prompt has no candidates: it yields one empty candidate with a content filter as its finish
 * reason.
 */
export function listCandidates({ candidates, promptFeedback }: GeminiResponse): IndexedCandidate[] {
  if (candidates && candidates.length > 0) {
    const found = candidates.map(toIndexed)
    return found.length === 1 ? found : found.sort((a, b) => a.index - b.index)
  }
  const reason = promptFeedback?.blockReason
  // Services spell the default BLOCK_REASON_UNSPECIFIED or BLOCKED_REASON_UNSPECIFIED: not blocked.
  if (!reason || reason.endsWith('UNSPECIFIED')) return []
  const refusal = promptFeedback?.blockReasonMessage || undefined
  return [{ index: 0, position: 0, finishReason: 'PROHIBITED_CONTENT', refusal }]
}

/** Names each member: a spread of an object with so many costs more than the rest of the translation. */
function toIndexed(found: GeminiCandidate, position: number): IndexedCandidate {
  return {
    index: found.index ?? position,
    position,
    content: found.content,
    finishReason: found.finishReason,
    finishMessage: found.finishMessage,
    groundingMetadata: found.groundingMetadata,
    citationMetadata: found.citationMetadata,
    urlContextMetadata: found.urlContextMetadata,
    logprobsResult: found.logprobsResult,
  }
}
