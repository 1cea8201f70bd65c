import type { ChatCall } from '../../core/chat.ts'
import { type CanonicalRequest, readRequest } from '../canonical/request.ts'
import { claudeSchema } from '../claude/schema.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { bedrockConditions } from './conditions.ts'
import { converseMessages } from './messages.ts'
import type { BedrockModel } from './models.ts'
import { converseReasoning } from './reasoning.ts'
import { converseTools } from './tools.ts'

/** A request in the words of Converse. */
export interface Translation {
  readonly body: object
  /** The bound in that body; undefined where it holds none. */
  readonly maxTokens: number | undefined
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Whom a request is for. */
interface ConverseAddressee {
  readonly model: BedrockModel
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Translates a chat request for one model. Throws `UntranslatableError` when it has no form here. */
export function converseRequest(call: ChatCall, { model, most }: ConverseAddressee): Translation {
  const asked = readRequest(call)
  const reasoning = converseReasoning({ request: asked, model, most })
  const { request, dropped } = filterUnsupported(
    asked,
    'bedrock',
    bedrockConditions(model, reasoning),
  )
  const tools = converseTools({ request, model, thinking: reasoning.thinking })
  // Members that are undefined do not reach the wire. Empty objects would be refused.
  const body = {
    ...converseMessages(request.messages, model),
    inferenceConfig: filled({
      maxTokens: reasoning.maxTokens,
      temperature: request.temperature === undefined ? undefined : Math.min(request.temperature, 1),
      topP: request.topP,
      stopSequences: request.stop.length > 0 ? request.stop : undefined,
    }),
    toolConfig: tools.config,
    additionalModelRequestFields: filled({
      ...topKOf(request, model),
      ...reasoning.fields,
      ...tools.fields,
    }),
    outputConfig: formatOf(request),
    serviceTier: request.serviceTier && { type: request.serviceTier },
  }
  return { body, maxTokens: reasoning.maxTokens, dropped }
}

function filled(members: object): object | undefined {
  return Object.values(members).some((value) => value !== undefined) ? members : undefined
}

function topKOf({ topK }: CanonicalRequest, model: BedrockModel): object {
  if (topK === undefined) return {}
  return model.topK === 'inferenceConfig.topK' ? { inferenceConfig: { topK } } : { top_k: topK }
}

/** The schema travels as text. */
function formatOf({ responseFormat: format }: CanonicalRequest): object | undefined {
  if (format.kind !== 'json_schema') return undefined
  const { name, description } = format
  const schema = JSON.stringify(claudeSchema(format.schema))
  return {
    textFormat: { type: 'json_schema', structure: { jsonSchema: { name, description, schema } } },
  }
}
