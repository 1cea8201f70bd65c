import type { OpenAiRequest } from '../canonical/request.ts'
import { heldTo } from '../shared/output-bound.ts'
import type { GeminiCondition, Holds } from '../translation/conditions.ts'
import { honour } from '../translation/honour.ts'
import { geminiConversation } from './messages.ts'
import type { GeminiModel } from './models.ts'
import { thinkingConfig } from './reasoning.ts'
import { responseSchema, type SchemaContext, schemaBudgets } from './schema/fit.ts'
import { declaredTools, toolFields } from './tools.ts'

/** Where the services that speak this dialect differ. */
export interface GeminiDialect {
  /** The media type of a referenced file whose name tells none; absent: none is sent. */
  readonly defaultMimeType?: string | undefined
  /** Which models take penalties. */
  readonly penalties: 'every-model' | 'old-models'
  /** `serviceTier` exists. */
  readonly takesServiceTier: boolean
  /** The fewest alternatives that `logprobs` may ask for; below it the field is left out. */
  readonly fewestLogprobs: number
}

/** Whom a request is for. */
export interface GeminiAddressee {
  readonly model: GeminiModel
  readonly dialect: GeminiDialect
  /** The configured bound of the model. */
  readonly most: number | undefined
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
export function geminiRequest(asked: OpenAiRequest, addressee: GeminiAddressee): Translation {
  const { request, dropped } = honour(asked, 'gemini', geminiConditions(asked, addressee))
  return { body: bodyOf(request, addressee), dropped }
}

function geminiConditions(
  request: OpenAiRequest,
  { model, dialect, passesAddresses }: GeminiAddressee,
): Holds<GeminiCondition> {
  return {
    ignoresSampling: !model.takesSampling,
    noReasoning: !thinkingConfig(request, model),
    // Older models answer 400 when JSON output and tools are asked for together.
    noFormatBesideTools: !model.takesFormatWithTools && declaredTools(request).length > 0,
    noPenalties: dialect.penalties === 'old-models' && !model.takesPenalties,
    oneAnswer: !model.takesCandidateCount,
    noTiers: !dialect.takesServiceTier,
    textResults: !model.takesMediaInToolResults,
    fetchedByGoogle: passesAddresses,
  }
}

/** Members that are undefined do not reach the wire. */
function bodyOf(request: OpenAiRequest, { model, dialect, most }: GeminiAddressee): object {
  const { defaultMimeType } = dialect
  const schemas = { model, budgets: schemaBudgets() }
  return {
    ...geminiConversation(request.messages, { model, defaultMimeType }),
    ...toolFields(request, schemas),
    generationConfig: filled({
      ...limits(request, most),
      ...sampling(request),
      ...logprobs(request, dialect),
      ...format(request, schemas),
      responseModalities: modalities(request),
      thinkingConfig: thinkingConfig(request, model),
    }),
    serviceTier: request.serviceTier === 'default' ? 'standard' : request.serviceTier,
  }
}

function filled(config: object): object | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined
}

function limits({ maxTokens, stop }: OpenAiRequest, most: number | undefined): object {
  return {
    maxOutputTokens: heldTo(most, maxTokens),
    stopSequences: stop.length > 0 ? stop : undefined,
  }
}

function sampling(request: OpenAiRequest): object {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, n, seed } = request
  return {
    temperature,
    topP,
    topK,
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
    candidateCount: n === 1 ? undefined : n,
    seed: seed === undefined ? undefined : asInt32(seed),
  }
}

/** Seeds of OpenAI may be 64 bits wide. Folding keeps equal seeds equal. */
function asInt32(seed: number): number {
  return Number(BigInt.asIntN(32, BigInt(seed)))
}

function logprobs(request: OpenAiRequest, { fewestLogprobs }: GeminiDialect): object {
  const { logprobs: wanted, topLogprobs } = request
  if (!wanted) return {}
  const isEnough = topLogprobs !== undefined && topLogprobs >= fewestLogprobs
  return { responseLogprobs: true, logprobs: isEnough ? topLogprobs : undefined }
}

/** Text alone is what comes anyway. */
function modalities({ modalities: wanted = [] }: OpenAiRequest): string[] | undefined {
  const isMore = wanted.some((modality) => modality !== 'text')
  return isMore ? wanted.map((modality) => modality.toUpperCase()) : undefined
}

function format(request: OpenAiRequest, schemas: SchemaContext): object {
  const { responseFormat } = request
  if (responseFormat.kind === 'text') return {}
  const json = { responseMimeType: 'application/json' }
  if (responseFormat.kind !== 'json_schema' || !responseFormat.schema) return json
  const hasTools = declaredTools(request).length > 0
  return { ...json, ...responseSchema(responseFormat.schema, { ...schemas, hasTools }) }
}
