import type { ChatCall } from '../../../core/chat.ts'
import { claudeSchema } from '../claude/schema.ts'
import { fieldsInUse } from '../openai/neutral.ts'
import { type OpenAiRequest, readRequest } from '../openai/request.ts'
import type { Drop } from './block.ts'
import { converseMessages } from './messages.ts'
import type { BedrockModel } from './model.ts'
import { converseReasoning, type Reasoning } from './reasoning.ts'
import { converseTools } from './tools.ts'

/** A request in the words of Converse. */
export interface Translation {
  readonly body: object
  /** The bound in that body; undefined where it holds none. */
  readonly maxTokens: number | undefined
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Fields without any counterpart. Unknown ones are left out unsaid. */
const withoutCounterpart = [
  'n',
  'seed',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'modalities',
  'audio',
  'prediction',
  'store',
  'verbosity',
  'web_search_options',
  'prompt_cache_key',
  'user',
  'safety_identifier',
  'metadata',
]

/** Whom a request is for. */
interface ConverseAddressee {
  readonly model: BedrockModel
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Translates a chat request for one model. Throws `CannotExpress` when it has no form here. */
export function converseRequest(call: ChatCall, { model, most }: ConverseAddressee): Translation {
  const request = readRequest(call)
  const dropped = [...fieldsInUse(request, withoutCounterpart), ...request.leftOut]
  const drop: Drop = (path) => dropped.push(path)

  const reasoning = converseReasoning({ request, model, most, drop })
  const tools = converseTools({ request, model, thinking: reasoning.thinking, drop })
  // Members that are undefined do not reach the wire. Empty objects would be refused.
  const body = {
    ...converseMessages(request.messages, model, drop),
    inferenceConfig: filled({
      maxTokens: reasoning.maxTokens,
      ...samplingOf(request, model, reasoning, drop),
      stopSequences: stopsOf(request, model, drop),
    }),
    toolConfig: tools.config,
    additionalModelRequestFields: filled({
      ...topKOf(request, model, reasoning, drop),
      ...reasoning.fields,
      ...tools.fields,
    }),
    outputConfig: formatOf(request, model, drop),
    serviceTier: tierOf(request, drop),
  }
  return { body, maxTokens: reasoning.maxTokens, dropped }
}

function filled(members: object): object | undefined {
  return Object.values(members).some((value) => value !== undefined) ? members : undefined
}

/** Numbers from 0 to 1, of which Claude models since 4 take one only. */
function samplingOf(
  { temperature, topP }: OpenAiRequest,
  model: BedrockModel,
  reasoning: Reasoning,
  drop: Drop,
): object {
  // From 0.99 on it is what Anthropic takes for the default.
  const narrows = topP !== undefined && topP < 0.99
  if (!mayVary(model, reasoning)) {
    if (temperature !== undefined && temperature !== 1) drop('temperature')
    if (narrows) drop('top_p')
    return {}
  }
  if (temperature !== undefined && temperature > 1) drop('temperature')
  const isOneTooMany = model.claude !== undefined && temperature !== undefined
  if (isOneTooMany && narrows) drop('top_p')
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    topP: isOneTooMany ? undefined : topP,
  }
}

/** A model that thinks, and some that always do, insist on their own way of sampling. */
function mayVary({ claude, takesSampling }: BedrockModel, { thinking }: Reasoning): boolean {
  const thinks = thinking !== undefined && thinking['type'] !== 'disabled'
  return takesSampling && !thinks && claude?.sampling !== false
}

function topKOf(
  { topK }: OpenAiRequest,
  model: BedrockModel,
  reasoning: Reasoning,
  drop: Drop,
): object {
  if (topK === undefined) return {}
  if (mayVary(model, reasoning)) {
    if (model.topK === 'top_k') return { top_k: topK }
    if (model.topK === 'inferenceConfig.topK') return { inferenceConfig: { topK } }
  }
  drop('top_k')
  return {}
}

/** Empty sequences are refused, and Claude models refuse blank ones too. */
function stopsOf(
  { stop }: OpenAiRequest,
  { claude, takesStops }: BedrockModel,
  drop: Drop,
): readonly string[] | undefined {
  const said = stop.filter((sequence) => sequence !== '')
  const kept = claude ? said.filter((sequence) => sequence.trim() !== '') : said
  if (kept.length < said.length || (said.length > 0 && !takesStops)) drop('stop')
  return kept.length > 0 && takesStops ? kept : undefined
}

/** The schema travels as text. */
function formatOf(
  { responseFormat: format }: OpenAiRequest,
  { takesSchemas }: BedrockModel,
  drop: Drop,
): object | undefined {
  if (format.kind === 'text') return undefined
  if (format.kind === 'json_schema' && format.schema && takesSchemas) {
    const { name, description } = format
    const schema = JSON.stringify(claudeSchema(format.schema))
    const structure = { jsonSchema: { name, description, schema } }
    return { textFormat: { type: 'json_schema', structure } }
  }
  drop('response_format')
  return undefined
}

const tiers: ReadonlySet<string> = new Set(['default', 'flex', 'priority'])

function tierOf({ serviceTier: type }: OpenAiRequest, drop: Drop): object | undefined {
  if (type === undefined || type === 'auto') return undefined
  if (tiers.has(type)) return { type }
  drop('service_tier')
  return undefined
}
