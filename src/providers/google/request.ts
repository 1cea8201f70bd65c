import type { CanonicalRequest } from '../canonical/request.ts'
import { clampBound } from '../shared/output-bound.ts'
import type { ConditionFlags, GeminiCondition } from '../translation/conditions.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { toGeminiContents } from './messages.ts'
import type { GeminiModel } from './models.ts'
import { readThinkingConfig } from './reasoning.ts'
import { newSchemaBudgets, type SchemaContext, toResponseSchemaFields } from './schema/fit.ts'
import { selectDeclaredTools, toToolFields } from './tools.ts'

/** Where the services that speak this dialect differ. */
export interface GeminiDialect {
  /** The media type of a referenced file whose name tells none; absent: none is sent. */
  readonly defaultMimeType?: string | undefined
  /** Which models take penalties. */
  readonly penalties: 'every-model' | 'old-models'
  /** `serviceTier` exists. */
  readonly takesServiceTier: boolean
  /** The fewest alternatives that `logprobs` may ask for; below it the field is left out. */
  readonly minTopLogprobs: number
}

/** Whom a request is for. */
export interface GeminiTarget {
  readonly model: GeminiModel
  readonly dialect: GeminiDialect
  /** The configured bound of the model. */
  readonly maxOutputTokens: number | undefined
  /** Google may fetch media at https addresses. */
  readonly passesAddresses: boolean
}

/** A request in the words of `generateContent`. */
export interface Translation {
  readonly body: object
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Translates a request for one model. Throws `UntranslatableError` when it has no form here. */
export function toGeminiRequest(
  openAiRequest: CanonicalRequest,
  target: GeminiTarget,
): Translation {
  const { request, dropped } = filterUnsupported(
    openAiRequest,
    'gemini',
    geminiConditions(openAiRequest, target),
  )
  return { body: toBody(request, target), dropped }
}

function geminiConditions(
  request: CanonicalRequest,
  { model, dialect, passesAddresses }: GeminiTarget,
): ConditionFlags<GeminiCondition> {
  return {
    ignoresSampling: !model.takesSampling,
    noReasoning: !readThinkingConfig(request, model),
    // Older models answer 400 when JSON output and tools are asked for together.
    noFormatBesideTools: !model.takesFormatWithTools && selectDeclaredTools(request).length > 0,
    noPenalties: dialect.penalties === 'old-models' && !model.takesPenalties,
    oneAnswer: !model.takesCandidateCount,
    noTiers: !dialect.takesServiceTier,
    textResults: !model.takesMediaInToolResults,
    fetchedByGoogle: passesAddresses,
  }
}

/** Members that are undefined do not reach the wire. */
function toBody(
  request: CanonicalRequest,
  { model, dialect, maxOutputTokens }: GeminiTarget,
): object {
  const { defaultMimeType } = dialect
  const schemas = { model, budgets: newSchemaBudgets() }
  return {
    ...toGeminiContents(request.messages, { model, defaultMimeType }),
    ...toToolFields(request, schemas),
    generationConfig: omitEmpty({
      ...toLimitFields(request, maxOutputTokens),
      ...toSamplingFields(request),
      ...toLogprobFields(request, dialect),
      ...toFormatFields(request, schemas),
      responseModalities: toResponseModalities(request),
      thinkingConfig: readThinkingConfig(request, model),
    }),
    serviceTier: request.serviceTier === 'default' ? 'standard' : request.serviceTier,
  }
}

function omitEmpty(config: object): object | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined
}

function toLimitFields(
  { maxTokens, stop }: CanonicalRequest,
  maxOutputTokens: number | undefined,
): object {
  return {
    maxOutputTokens: clampBound(maxOutputTokens, maxTokens),
    stopSequences: stop.length > 0 ? stop : undefined,
  }
}

function toSamplingFields(request: CanonicalRequest): object {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, n, seed } = request
  return {
    temperature,
    topP,
    topK,
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
    candidateCount: n === 1 ? undefined : n,
    seed: seed === undefined ? undefined : foldToInt32(seed),
  }
}

/** Seeds of OpenAI may be 64 bits wide. Folding keeps equal seeds equal. */
function foldToInt32(seed: number): number {
  return Number(BigInt.asIntN(32, BigInt(seed)))
}

function toLogprobFields(
  request: CanonicalRequest,
  { minTopLogprobs: fewestLogprobs }: GeminiDialect,
): object {
  const { logprobs: wanted, topLogprobs } = request
  if (!wanted) return {}
  const isEnough = topLogprobs !== undefined && topLogprobs >= fewestLogprobs
  return { responseLogprobs: true, logprobs: isEnough ? topLogprobs : undefined }
}

/** Text alone is what comes anyway. */
function toResponseModalities({ modalities: wanted = [] }: CanonicalRequest): string[] | undefined {
  const isMore = wanted.some((modality) => modality !== 'text')
  return isMore ? wanted.map((modality) => modality.toUpperCase()) : undefined
}

function toFormatFields(request: CanonicalRequest, schemas: SchemaContext): object {
  const { responseFormat } = request
  if (responseFormat.kind === 'text') return {}
  const json = { responseMimeType: 'application/json' }
  if (responseFormat.kind !== 'json_schema' || !responseFormat.schema) return json
  const hasTools = selectDeclaredTools(request).length > 0
  return { ...json, ...toResponseSchemaFields(responseFormat.schema, { ...schemas, hasTools }) }
}
