import {
  carried,
  dropped,
  except,
  ignored,
  inEveryApi,
  mapped,
  type TranslationRows,
} from '../cell.ts'

const config = 'generationConfig'
const extra = 'additionalModelRequestFields'

/** The format of the answer, and reasoning. */
export const output = {
  'response_format: json_object': {
    anthropic: dropped,
    gemini: mapped(`${config}.responseMimeType`),
    bedrock: dropped,
    cohere: carried('response_format'),
  },
  'response_format: json_schema': {
    anthropic: except(mapped('output_config.format'), { noSchemas: dropped }),
    gemini: mapped(`${config}.responseSchema`, '`responseSchema` or `responseJsonSchema`'),
    bedrock: except(mapped('outputConfig.textFormat'), { noSchemas: dropped }),
    cohere: mapped('response_format.json_schema'),
  },
  'response_format: json_schema without a schema': {
    anthropic: dropped,
    gemini: mapped(`${config}.responseMimeType`),
    bedrock: dropped,
    cohere: mapped('response_format.type', 'as `json_object`'),
  },
  'response_format beside tools': {
    anthropic: mapped('output_config.format'),
    gemini: except(mapped(`${config}.responseJsonSchema`), { noFormatBesideTools: dropped }),
    bedrock: mapped('outputConfig.textFormat'),
    cohere: dropped,
  },
  'response_format of another type': inEveryApi(dropped),
  'modalities: image, audio': {
    anthropic: dropped,
    gemini: mapped(`${config}.responseModalities`),
    bedrock: dropped,
    cohere: dropped,
  },
  'modalities other than text, image, audio': inEveryApi(dropped),
  audio: inEveryApi(dropped),
  prediction: inEveryApi(dropped),
  'verbosity other than medium': inEveryApi(dropped),
  web_search_options: {
    anthropic: mapped('tools', 'the tool `web_search`'),
    gemini: mapped('tools', 'the tool `googleSearch`'),
    bedrock: except(mapped('toolConfig.tools', 'the system tool `nova_grounding`'), {
      noGrounding: dropped,
    }),
    cohere: dropped,
  },
  'web_search_options beside functions': {
    anthropic: mapped('tools', 'the tool `web_search`'),
    gemini: except(mapped('tools', 'the tool `googleSearch`'), { noSearchBesideTools: dropped }),
    bedrock: except(mapped('toolConfig.tools', 'the system tool `nova_grounding`'), {
      noGrounding: dropped,
    }),
    cohere: dropped,
  },
  'web_search_options.user_location': {
    anthropic: mapped('tools.0.user_location'),
    gemini: dropped,
    bedrock: dropped,
    cohere: dropped,
  },
  'web_search_options.search_context_size other than medium': inEveryApi(dropped),
  'reasoning_effort: none': {
    anthropic: except(mapped('thinking'), { noReasoning: ignored }),
    gemini: except(mapped(`${config}.thinkingConfig`), { noReasoning: dropped }),
    bedrock: except(mapped(`${extra}.thinking`, 'a field specific to the model family'), {
      noReasoning: ignored,
      noWordForNone: ignored,
    }),
    cohere: mapped('thinking'),
  },
  'reasoning_effort: high': {
    anthropic: except(mapped('thinking', '`thinking`, `output_config.effort`'), {
      noReasoning: dropped,
      thinkingMissing: dropped,
      noRoomToThink: dropped,
    }),
    gemini: except(mapped(`${config}.thinkingConfig`), { noReasoning: dropped }),
    bedrock: except(mapped(`${extra}.thinking`, 'a field specific to the model family'), {
      noReasoning: dropped,
      thinkingMissing: dropped,
      noRoomToThink: dropped,
    }),
    cohere: mapped('thinking'),
  },
  'reasoning_effort: minimal, low, medium, xhigh, max': {
    anthropic: except(mapped('thinking', '`thinking`, `output_config.effort`'), {
      noReasoning: dropped,
      thinkingMissing: dropped,
      noRoomToThink: dropped,
    }),
    gemini: except(mapped(`${config}.thinkingConfig`), { noReasoning: dropped }),
    bedrock: except(mapped(`${extra}.thinking`, 'a field specific to the model family'), {
      noReasoning: dropped,
      thinkingMissing: dropped,
      noRoomToThink: dropped,
    }),
    cohere: dropped,
  },
  'reasoning_effort with another value': inEveryApi(dropped),
} as const satisfies TranslationRows
