import type { Steps } from '../../core/steps.ts'
import { toCamelCase } from '../base/camel-case.ts'
import { clampBound } from '../base/output-bound.ts'
import { listLostWish } from '../canonical/lost-wish.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { ConditionFlags } from '../translation/conditions.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { toGeminiContents } from './messages.ts'
import type { GeminiModel } from './models.ts'
import { readOwnFields } from './own-fields.ts'
import { canSayWish, readThinkingConfig } from './reasoning.ts'
import {
  newSchemaBudgets,
  type ResponseSchemaFields,
  type SchemaContext,
  toResponseSchemaFields,
} from './schema/fit.ts'
import { selectDeclaredTools, toToolFields } from './tools.ts'

/** The differences between the services that speak this dialect. */
export interface GeminiDialect {
  /** Media type of a referenced file without a known extension. Undefined sends no type. */
  readonly defaultMimeType?: string | undefined
  /** The models that accept penalties. `old-models` are those before generation 2.5. */
  readonly penalties: 'every-model' | 'old-models'
  /** Whether requests have the field `serviceTier`. */
  readonly takesServiceTier: boolean
  /** Whether requests have the field `labels`. */
  readonly takesLabels: boolean
  /**
   * Whether a request with functions and Google's own tools must ask for the calls of the latter. Vertex AI
   * refuses the field: https://github.com/googleapis/python-genai/blob/main/google/genai/models.py
   */
  readonly marksOwnCalls: boolean
  /** The smallest `top_logprobs` that the service accepts; a smaller value is left out. */
  readonly minTopLogprobs: number
}

/** The model and service that a request is translated for. */
export interface GeminiTarget {
  readonly model: GeminiModel
  readonly dialect: GeminiDialect
  /** The configured output limit of the model, in tokens. */
  readonly maxOutputTokens: number | undefined
  /** Whether https addresses of media are forwarded for Google to fetch. */
  readonly forwardsMediaUrls: boolean
}

/** A request to `generateContent`: https://ai.google.dev/api/generate-content */
export interface Translation {
  readonly body: object
  /** The paths of all fields that were dropped or changed because Gemini has no counterpart. */
  readonly dropped: readonly string[]
}

/**
 * Translates a request for one model. Throws `UntranslatableError` when Gemini cannot express it.
 */
export function* toGeminiRequest(
  openAiRequest: CanonicalRequest,
  target: GeminiTarget,
): Steps<Translation> {
  const { request, dropped } = yield* filterUnsupported(
    openAiRequest,
    'gemini',
    geminiConditions(openAiRequest, target),
  )
  const lost = new Set(canSayWish(openAiRequest, target.model) ? [] : listLostWish(openAiRequest))
  const body = yield* toBody(request, target, (path) => lost.add(path))
  return { body, dropped: lost.size === 0 ? dropped : [...dropped, ...lost] }
}

function geminiConditions(
  request: CanonicalRequest,
  { model, dialect, forwardsMediaUrls }: GeminiTarget,
): ConditionFlags<'gemini'> {
  return {
    ignoresSampling: !model.takesSampling,
    noReasoning: !readThinkingConfig(request, model),
    // Models before 3.0 answer 400 to a request with both JSON output and tools.
    noFormatBesideTools: !model.takesFormatWithTools && selectDeclaredTools(request).length > 0,
    noSearchBesideTools: !model.combinesTools,
    noPenalties: dialect.penalties === 'old-models' && !model.takesPenalties,
    oneAnswer: !model.takesCandidateCount,
    noTiers: !dialect.takesServiceTier,
    hasLabels: dialect.takesLabels,
    textResults: !model.takesMediaInToolResults,
    fetchedByGoogle: forwardsMediaUrls,
  }
}

/** `JSON.stringify` leaves out the members that are undefined. */
function* toBody(
  request: CanonicalRequest,
  target: GeminiTarget,
  lose: SchemaContext['lose'],
): Steps<object> {
  const { model, dialect } = target
  const schemas = { model, budgets: newSchemaBudgets(), lose }
  const own = readOwnFields(request)
  const { contents, systemInstruction } = yield* toGeminiContents(request.messages, {
    model,
    defaultMimeType: dialect.defaultMimeType,
  })
  const { tools, toolConfig } = yield* toToolFields(request, dialect, schemas)
  yield
  const generationConfig = yield* toGenerationConfig(request, target, schemas)
  return {
    contents,
    systemInstruction,
    tools,
    toolConfig,
    generationConfig: omitEmpty(generationConfig),
    serviceTier: request.serviceTier === 'default' ? 'standard' : request.serviceTier,
    safetySettings: own.safety_settings ?? undefined,
    cachedContent: own.cached_content ?? undefined,
    labels: own.labels ?? undefined,
  }
}

/** Names each member: spreads of a few objects cost as much as the rest of the translation. */
function* toGenerationConfig(
  request: CanonicalRequest,
  { model, dialect, maxOutputTokens }: GeminiTarget,
  schemas: SchemaContext,
): Steps<object> {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, n, seed, stop } = request
  const { image_config: imageConfig, media_resolution: mediaResolution } = readOwnFields(request)
  const format = yield* toFormatFields(request, schemas)
  const { responseMimeType, responseSchema, responseJsonSchema } = format
  return {
    maxOutputTokens: clampBound(maxOutputTokens, request.maxTokens),
    stopSequences: stop.length > 0 ? stop : undefined,
    temperature,
    topP,
    topK,
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
    candidateCount: n === 1 ? undefined : n,
    seed: seed === undefined ? undefined : foldToInt32(seed),
    responseLogprobs: request.logprobs || undefined,
    logprobs: toLogprobs(request, dialect),
    responseMimeType,
    responseSchema,
    responseJsonSchema,
    responseModalities: toResponseModalities(request),
    thinkingConfig: readThinkingConfig(request, model),
    imageConfig: imageConfig ? toCamelCase(imageConfig) : undefined,
    mediaResolution: mediaResolution ?? undefined,
  }
}

function omitEmpty(config: object): object | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined
}

/** OpenAI's seeds may be 64 bits wide, Gemini's are 32. Folding maps equal seeds to equal seeds. */
function foldToInt32(seed: number): number {
  return Number(BigInt.asIntN(32, BigInt(seed)))
}

/** Some services refuse a count of 0. */
function toLogprobs(
  { logprobs: isRequested, topLogprobs }: CanonicalRequest,
  { minTopLogprobs }: GeminiDialect,
): number | undefined {
  const isAllowed = topLogprobs !== undefined && topLogprobs >= minTopLogprobs
  return isRequested && isAllowed ? topLogprobs : undefined
}

/** Text alone is the default, and is not sent. */
function toResponseModalities({
  modalities: requested = [],
}: CanonicalRequest): string[] | undefined {
  const isMore = requested.some((modality) => modality !== 'text')
  return isMore ? requested.map((modality) => modality.toUpperCase()) : undefined
}

interface FormatFields extends ResponseSchemaFields {
  readonly responseMimeType?: string
}

function* toFormatFields(request: CanonicalRequest, schemas: SchemaContext): Steps<FormatFields> {
  const { responseFormat } = request
  if (responseFormat.kind === 'text') return {}
  const json = { responseMimeType: 'application/json' }
  if (responseFormat.kind !== 'json_schema' || !responseFormat.schema) return json
  const hasTools = selectDeclaredTools(request).length > 0
  const written = yield* toResponseSchemaFields(responseFormat.schema, { ...schemas, hasTools })
  return { ...json, ...written }
}
