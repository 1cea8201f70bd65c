import { type Profile, responseFormatWords, toolChoiceWords } from '../../core/profile.ts'

/**
 * The form that every known upstream takes, for an upstream without a row.
 * Sources are with the rows and families that need another value.
 */
export const unknownProfile: Profile = Object.freeze({
  systemMessages: 'first',
  lateSystem: 'user',
  mergeSameRole: true,
  userAfterTool: 'allowed',
  toolCallIds: 'any',
  toolChoices: toolChoiceWords,
  toolChoicesThinking: undefined,
  reservedToolNames: [],
  strictTools: false,
  parallelToolCalls: true,
  schema: 'plain',
  boundField: 'max_tokens',
  dropParameters: ['top_k'],
  renamedParameters: {},
  dropParametersThinking: [],
  responseFormats: responseFormatWords,
  responseFormatsThinking: undefined,
  reasoningSwitch: 'none',
  templateArgument: 'enable_thinking',
  reasoningEfforts: ['low', 'medium', 'high'],
  reasoningOff: false,
  thinkingOn: 'enabled',
  thinksByDefault: false,
  reasoningField: 'auto',
  reasoningHistory: 'turn',
  reasoningMissing: 'omit',
  emptyContent: 'null',
  reasoningSigned: false,
  fileAddresses: false,
  cacheControl: false,
  promptCacheKey: false,
  serviceTier: false,
  verbosity: false,
  streamEnd: 'done',
  extraBody: {},
})
