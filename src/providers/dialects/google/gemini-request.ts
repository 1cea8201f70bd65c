import { CannotExpress } from '../../../core/cannot-express.ts'
import { fieldsInUse } from '../openai/neutral.ts'
import type { OpenAiRequest } from '../openai/request.ts'
import { callableTools, type FunctionTool } from '../openai/tools.ts'
import { heldTo } from '../output-bound.ts'
import { geminiConversation } from './gemini-messages.ts'
import type { GeminiModel } from './gemini-model.ts'
import { functionSchema, responseSchema } from './gemini-schema.ts'
import { thinkingConfig } from './gemini-thinking.ts'

/** Where the services that speak this dialect differ. */
export interface GeminiDialect {
  /** The media type of a referenced file whose name tells none; absent: none is sent. */
  readonly defaultMimeType?: string | undefined
  /** Which models take penalties. */
  readonly penalties: 'every-model' | 'old-models'
  /**
   * `serviceTier` by the `service_tier` of the request, null for what happens anyway. A tier that is
   * not listed cannot be honoured.
   */
  readonly serviceTiers: ReadonlyMap<string, string | null>
  /** The fewest alternatives that `logprobs` may ask for; below it the field is left out. */
  readonly fewestLogprobs: number
}

/** Whom a request is for. */
export interface GeminiAddressee {
  readonly model: GeminiModel
  readonly dialect: GeminiDialect
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Fields of the OpenAI API that Gemini has no counterpart of. */
const neverHonoured = [
  'audio',
  'logit_bias',
  'parallel_tool_calls',
  'prediction',
  'store',
  'verbosity',
  'web_search_options',
]

/** A request in the words of `generateContent`. */
export interface Translation {
  readonly body: object
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Translates a request for one model. Throws `CannotExpress` when it has no form here. */
export function geminiRequest(request: OpenAiRequest, addressee: GeminiAddressee): Translation {
  const dropped = unsupportedFields(request, addressee)
  const body = bodyOf(request, addressee, (path) => dropped.push(path))
  return { body, dropped }
}

function unsupportedFields(request: OpenAiRequest, addressee: GeminiAddressee): string[] {
  const { model, dialect } = addressee
  const { reasoningEffort: effort, serviceTier: tier } = request
  const fields = [
    ...neverHonoured,
    ...(model.takesCandidateCount ? [] : ['n']),
    ...(model.takesSampling ? [] : ['temperature', 'top_p', 'top_k']),
    ...(takesPenalties(addressee) ? [] : ['presence_penalty', 'frequency_penalty']),
    ...(request.logprobs ? [] : ['top_logprobs']),
    ...(effort && !thinkingConfig(request, model) ? ['reasoning_effort'] : []),
    ...(tier !== undefined && !dialect.serviceTiers.has(tier) ? ['service_tier'] : []),
    ...(takesFormat(request, model) ? [] : ['response_format']),
    ...(request.toolChoice?.kind === 'custom' ? ['tool_choice'] : []),
    ...(request.modalities?.every(isModality) === false ? ['modalities'] : []),
  ]
  const strictTools = request.tools.filter(({ strict }) => strict)
  return [
    ...fieldsInUse(request, fields),
    ...request.leftOut,
    ...strictTools.map((tool) => `${definitionOf(tool)}.strict`),
  ]
}

/** Members that are undefined do not reach the wire. */
function bodyOf(
  request: OpenAiRequest,
  addressee: GeminiAddressee,
  drop: (path: string) => void,
): object {
  const { model, dialect } = addressee
  const { defaultMimeType, serviceTiers } = dialect
  return {
    ...geminiConversation(request.messages, { model, defaultMimeType, drop }),
    ...toolFields(request, model),
    generationConfig: filled({
      ...limits(request, addressee),
      ...sampling(request, addressee),
      ...logprobs(request, dialect),
      ...format(request, model),
      responseModalities: modalities(request),
      thinkingConfig: thinkingConfig(request, model),
    }),
    serviceTier: serviceTiers.get(request.serviceTier ?? '') ?? undefined,
  }
}

function filled(config: object): object | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined
}

function limits(request: OpenAiRequest, { most }: GeminiAddressee): object {
  const stop = request.stop.filter((sequence) => sequence !== '')
  return {
    maxOutputTokens: heldTo(most, request.maxTokens),
    stopSequences: stop.length > 0 ? stop : undefined,
  }
}

function sampling(request: OpenAiRequest, addressee: GeminiAddressee): object {
  const { model } = addressee
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, n, seed } = request
  return {
    ...(model.takesSampling && { temperature, topP, topK }),
    ...(takesPenalties(addressee) && {
      presencePenalty: presencePenalty || undefined,
      frequencyPenalty: frequencyPenalty || undefined,
    }),
    candidateCount: model.takesCandidateCount && n !== 1 ? n : undefined,
    seed: seed === undefined ? undefined : asInt32(seed),
  }
}

function takesPenalties({ model, dialect }: GeminiAddressee): boolean {
  return dialect.penalties === 'every-model' || model.takesPenalties
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
  const known = wanted.filter(isModality)
  return known.some((modality) => modality !== 'text')
    ? known.map((modality) => modality.toUpperCase())
    : undefined
}

function isModality(name: string): boolean {
  return name === 'text' || name === 'image' || name === 'audio'
}

/** Older models answer 400 when JSON output and tools are asked for together. */
function takesFormat(request: OpenAiRequest, model: GeminiModel): boolean {
  return model.takesFormatWithTools || declaredTools(request).length === 0
}

function format(request: OpenAiRequest, model: GeminiModel): object {
  const { responseFormat } = request
  if (responseFormat.kind === 'text' || !takesFormat(request, model)) return {}
  const json = { responseMimeType: 'application/json' }
  if (responseFormat.kind !== 'json_schema' || !responseFormat.schema) return json
  const hasTools = declaredTools(request).length > 0
  return { ...json, ...responseSchema(responseFormat.schema, { model, hasTools }) }
}

/** With `allowed_tools` in mode auto the others are held back: AUTO takes no list of names. */
function declaredTools(request: OpenAiRequest): readonly FunctionTool[] {
  const { toolChoice } = request
  const isNarrowed = toolChoice?.kind === 'allowed' && toolChoice.mode === 'auto'
  return isNarrowed ? callableTools(request) : request.tools
}

function toolFields(request: OpenAiRequest, model: GeminiModel): object {
  const functionCallingConfig = callingConfig(request)
  const tools = declaredTools(request)
  if (tools.length === 0) return {}
  // One tool object holds all functions: some models refuse several.
  return {
    tools: [{ functionDeclarations: tools.map((tool) => declaration(tool, model)) }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
  }
}

function declaration(tool: FunctionTool, model: GeminiModel): object {
  const { name, description, parameters } = tool
  const place = `${definitionOf(tool)}.parameters`
  return {
    name,
    description: description || undefined,
    ...(parameters && functionSchema(parameters, { model, place })),
  }
}

/** Where a function is defined: a legacy one stands by itself. */
function definitionOf({ path }: FunctionTool): string {
  return path.startsWith('functions.') ? path : `${path}.function`
}

function callingConfig({ toolChoice, tools }: OpenAiRequest): object | undefined {
  const known = (names: readonly string[]) => {
    const isKnown = names.every((name) => tools.some((tool) => tool.name === name))
    if (isKnown) return names
    throw new CannotExpress('tool_choice: names a function that is not in tools', 'tool_choice')
  }
  switch (toolChoice?.kind) {
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: known([toolChoice.name]) }
    case 'allowed': {
      const names = known(toolChoice.names)
      return toolChoice.mode === 'required'
        ? { mode: 'ANY', allowedFunctionNames: names }
        : undefined
    }
    // What cannot be asked for is left to the model.
    case undefined:
    case 'auto':
    case 'custom':
      return undefined
    default:
      return toolChoice satisfies never
  }
}
