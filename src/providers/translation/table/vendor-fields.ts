import {
  carried,
  dropped,
  except,
  mapped,
  mappedToHeader,
  type TranslationRow,
  type TranslationRows,
} from '../cell.ts'

const extra = 'additionalModelRequestFields'

/** A field that only Anthropic's own API has. */
const onlyAnthropic = (field: string): TranslationRow => ({
  anthropic: carried(field),
  gemini: dropped,
  bedrock: dropped,
  cohere: dropped,
})

/** A member of a function, beside it or inside of it, that only Anthropic's own API has. */
const onlyAnthropicTools = (member: string): TranslationRow => ({
  ...onlyAnthropic(member),
  anthropic: mapped(`tools.0.${member}`),
})

/** A field that Claude also has on Bedrock. */
const onlyClaude = (field: string): TranslationRow => ({
  anthropic: carried(field),
  gemini: dropped,
  bedrock: except(mapped(`${extra}.${field}`), { notClaude: dropped }),
  cohere: dropped,
})

/** A field of Google's, which has these outcomes there. */
const onlyGoogle = (gemini: TranslationRow['gemini']): TranslationRow => ({
  anthropic: dropped,
  gemini,
  bedrock: dropped,
  cohere: dropped,
})

/** A field of Converse, which is sent under this name. */
const onlyBedrock = (name: string): TranslationRow => ({
  anthropic: dropped,
  gemini: dropped,
  bedrock: mapped(name),
  cohere: dropped,
})

/** A field that only Cohere has. */
const onlyCohere = (field: string): TranslationRow => ({
  anthropic: dropped,
  gemini: dropped,
  bedrock: dropped,
  cohere: carried(field),
})

/** Fields that only one vendor has. They may also be nested under `extra_body`. */
export const vendorFields = {
  thinking: {
    anthropic: except(carried('thinking'), { thinkingMissing: dropped, noRoomToThink: dropped }),
    gemini: dropped,
    bedrock: except(mapped(`${extra}.thinking`), { notClaude: dropped, thinkingMissing: dropped }),
    cohere: dropped,
  },
  output_config: onlyClaude('output_config'),
  context_management: onlyClaude('context_management'),
  anthropic_beta: {
    anthropic: mappedToHeader('anthropic-beta'),
    gemini: dropped,
    bedrock: except(mapped(`${extra}.anthropic_beta`), { notClaude: dropped }),
    cohere: dropped,
  },
  'cache_control of the whole request': onlyAnthropic('cache_control'),
  container: onlyAnthropic('container'),
  mcp_servers: onlyAnthropic('mcp_servers'),
  'defer_loading of a tool': onlyAnthropicTools('defer_loading'),
  'input_examples of a tool': onlyAnthropicTools('input_examples'),
  'allowed_callers of a tool': onlyAnthropicTools('allowed_callers'),
  'is_error of a tool message': {
    anthropic: mapped('messages.2.content.0.is_error', 'in the `tool_result`'),
    gemini: mapped(
      'contents.2.parts.0.functionResponse.response.error',
      'as `error` of its `response`',
    ),
    bedrock: except(mapped('messages.2.content.0.toolResult.status', '`status`'), {
      noResultStatus: dropped,
    }),
    cohere: dropped,
  },
  thinking_config: onlyGoogle(mapped('generationConfig.thinkingConfig')),
  safety_settings: onlyGoogle(mapped('safetySettings')),
  cached_content: onlyGoogle(mapped('cachedContent')),
  labels: onlyGoogle(except(dropped, { hasLabels: carried('labels') })),
  image_config: onlyGoogle(mapped('generationConfig.imageConfig')),
  media_resolution: onlyGoogle(mapped('generationConfig.mediaResolution')),
  guardrail_config: onlyBedrock('guardrailConfig'),
  performance_config: onlyBedrock('performanceConfig'),
  request_metadata: onlyBedrock('requestMetadata'),
  additional_model_request_fields: onlyBedrock(extra),
  documents: onlyCohere('documents'),
  citation_options: onlyCohere('citation_options'),
  safety_mode: onlyCohere('safety_mode'),
} as const satisfies TranslationRows
