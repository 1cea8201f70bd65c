import type { ChatCall } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import type { TranslatedRequest } from '../base/translated-request.ts'
import { bindToolNames } from '../canonical/named-request.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { toClaudeSchema } from '../claude/schema.ts'
import { fitStrictTools } from '../claude/strict-tools.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { evaluateConditions } from './conditions.ts'
import { toConverseMessages } from './messages.ts'
import type { BedrockModel } from './models.ts'
import { readOwnFields } from './own-fields.ts'
import { resolveReasoning } from './reasoning.ts'
import { toToolFields } from './tools.ts'

/** The model that a request is for. */
interface ConverseTarget {
  readonly model: BedrockModel
  /** The model's configured limit. */
  readonly maxOutputTokens: number | undefined
}

/** The names that the API accepts: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html */
export const { read: readNamed, readNames } = bindToolNames(/^[a-zA-Z0-9_-]{1,64}$/)

/** Translates a chat request. Throws `UntranslatableError` for content that the API cannot carry. */
export function* toConverseRequest(
  call: ChatCall,
  { model, maxOutputTokens }: ConverseTarget,
): Steps<TranslatedRequest> {
  const { request: original } = yield* readNamed.inSteps(call)
  const reasoning = resolveReasoning({ request: original, model, maxOutputTokens })
  const { request: filtered, dropped } = yield* filterUnsupported(
    original,
    'bedrock',
    evaluateConditions(model, reasoning),
  )
  yield
  const strict = fitStrictTools(filtered)
  yield
  const request = { ...filtered, tools: strict.tools }
  const own = readOwnFields(request)
  const tools = toToolFields({ request, model, thinking: reasoning.thinking })
  yield
  const { system, messages } = yield* toConverseMessages(request.messages, model)
  yield
  // Members that are undefined do not reach the wire. Converse rejects empty objects.
  const body = {
    system,
    messages,
    inferenceConfig: omitIfEmpty({
      maxTokens: reasoning.maxTokens,
      temperature: request.temperature === undefined ? undefined : Math.min(request.temperature, 1),
      topP: request.topP,
      stopSequences: request.stop.length > 0 ? request.stop : undefined,
    }),
    toolConfig: tools.config,
    additionalModelRequestFields: omitIfEmpty({
      ...toTopK(request, model),
      ...reasoning.fields,
      ...tools.additional,
      ...own.additional,
    }),
    outputConfig: toOutputConfig(request),
    serviceTier: request.serviceTier && { type: request.serviceTier },
    guardrailConfig: own.guardrailConfig,
    performanceConfig: own.performanceConfig,
    requestMetadata: own.requestMetadata,
  }
  return {
    body,
    maxTokens: reasoning.maxTokens,
    dropped: [...dropped, ...strict.dropped, ...reasoning.dropped],
  }
}

function omitIfEmpty(members: object): object | undefined {
  return Object.values(members).some((value) => value !== undefined) ? members : undefined
}

function toTopK({ topK }: CanonicalRequest, model: BedrockModel): object {
  if (topK === undefined) return {}
  return model.topK === 'inferenceConfig.topK' ? { inferenceConfig: { topK } } : { top_k: topK }
}

/** Converse takes the schema as a JSON string. */
function toOutputConfig({ responseFormat: format }: CanonicalRequest): object | undefined {
  if (format.kind !== 'json_schema') return undefined
  const { name, description } = format
  const schema = JSON.stringify(toClaudeSchema(format.schema))
  return {
    textFormat: { type: 'json_schema', structure: { jsonSchema: { name, description, schema } } },
  }
}
