import {
  carried,
  except,
  ignored,
  inEveryApi,
  mapped,
  refused,
  type TranslationRows,
  weakened,
} from '../cell.ts'

const rawText = weakened('`{"rawInvalidInput": "…"}` is sent')
const claudeText = 'messages.0.content'
const converseBlock = 'messages.1.content.0'
const geminiParts = 'contents.1.parts'
/** Where the API does not accept the name: each has its own rule. */
const renamed = 'a short name where the API refuses it'

/** Roles, and the members of a message other than the parts of its content. */
export const messages = {
  'role: system, developer': {
    anthropic: mapped('system', 'collected in `system`'),
    gemini: mapped('systemInstruction', '`systemInstruction`; on Gemma, text of the `user`'),
    bedrock: mapped('system', 'collected in `system`'),
    cohere: mapped('messages.0.role', '`system`, in the same position'),
  },
  'role: user': {
    anthropic: carried(claudeText),
    gemini: mapped('contents.0.parts.0.text', '`user`'),
    bedrock: mapped('messages.0.content.0.text', '`user`'),
    cohere: carried(claudeText),
  },
  'role: assistant': {
    anthropic: carried('messages.1.content'),
    gemini: mapped(`${geminiParts}.0.text`, '`model`'),
    bedrock: mapped(`${converseBlock}.text`, '`assistant`'),
    cohere: carried('messages.1.content'),
  },
  'role: tool': {
    anthropic: mapped('messages.2.content.0.content', 'a `tool_result` in a `user` message'),
    gemini: mapped('contents.2.parts.0.functionResponse.response', 'a `functionResponse`'),
    bedrock: mapped(
      'messages.2.content.0.toolResult.content',
      'a `toolResult` in a `user` message',
    ),
    cohere: carried('messages.2.content'),
  },
  'role: function (legacy)': {
    anthropic: mapped('messages.2.content.0.content', 'a `tool_result` in a `user` message'),
    gemini: mapped('contents.2.parts.0.functionResponse.response', 'a `functionResponse`'),
    bedrock: mapped(
      'messages.2.content.0.toolResult.content',
      'a `toolResult` in a `user` message',
    ),
    cohere: mapped('messages.2.content', '`tool`'),
  },
  'tool message without a matching call': {
    anthropic: mapped('messages.0.content.0.tool_use_id', '`tool_result`; the vendor answers 400'),
    gemini: refused,
    bedrock: mapped('messages.0.content.0.toolResult', '`toolResult`; the vendor answers 400'),
    cohere: carried('messages.1.tool_call_id', 'the vendor answers 400'),
  },
  'name of a message': inEveryApi(ignored),
  refusal: {
    anthropic: mapped('messages.1.content', 'text'),
    gemini: mapped(`${geminiParts}.0.text`, 'text'),
    bedrock: mapped(`${converseBlock}.text`, 'text'),
    cohere: mapped('messages.1.content', 'text'),
  },
  reasoning_content: inEveryApi(ignored),
  'reasoning_content beside calls': {
    anthropic: ignored,
    gemini: ignored,
    bedrock: ignored,
    cohere: mapped('messages.1.tool_plan'),
  },
  thinking_blocks: {
    anthropic: mapped(converseBlock, 'first, when the answer begins with them'),
    gemini: ignored,
    bedrock: except(
      mapped(
        `${converseBlock}.reasoningContent`,
        '`reasoningContent`, when the answer begins with them',
      ),
      { noThinkingBlocks: ignored },
    ),
    cohere: ignored,
  },
  'provider_content of the family anthropic': {
    anthropic: mapped(converseBlock, 'in place of the message'),
    gemini: ignored,
    bedrock: ignored,
    cohere: ignored,
  },
  'provider_content of the family google': {
    anthropic: ignored,
    gemini: mapped(geminiParts, 'in place of the message'),
    bedrock: ignored,
    cohere: ignored,
  },
  'provider_content of the family bedrock': {
    anthropic: ignored,
    gemini: ignored,
    bedrock: mapped(converseBlock, 'in place of the message'),
    cohere: ignored,
  },
  'provider_content of the family cohere': {
    anthropic: ignored,
    gemini: ignored,
    bedrock: ignored,
    cohere: mapped('messages.1.content', 'in place of the message'),
  },
  'extra_content.google.thought_signature': {
    anthropic: ignored,
    gemini: mapped(`${geminiParts}.0.thoughtSignature`, '`thoughtSignature`'),
    bedrock: ignored,
    cohere: ignored,
  },
  'images of an answer': {
    anthropic: refused,
    gemini: mapped(`${geminiParts}.1.inlineData`, '`inlineData`'),
    bedrock: refused,
    cohere: refused,
  },
  'audio of an answer, with its data': {
    anthropic: refused,
    gemini: mapped(`${geminiParts}.1.inlineData`, '`inlineData`'),
    bedrock: refused,
    cohere: refused,
  },
  'audio of an answer, by its id': inEveryApi(refused),
  tool_calls: {
    anthropic: mapped('messages.1.content.0.input', '`tool_use`'),
    gemini: mapped(`${geminiParts}.0.functionCall`, '`functionCall`'),
    bedrock: mapped(`${converseBlock}.toolUse`, '`toolUse`'),
    cohere: carried('messages.1.tool_calls.0.function'),
  },
  'arguments as an object': {
    anthropic: mapped('messages.1.content.0.input', 'the text as sent'),
    gemini: mapped(`${geminiParts}.0.functionCall.args`, 'the text as sent'),
    bedrock: mapped(`${converseBlock}.toolUse.input`, 'the text as sent'),
    cohere: mapped('messages.1.tool_calls.0.function.arguments', 'the text as sent'),
  },
  'arguments that are not a JSON object': {
    anthropic: rawText,
    gemini: rawText,
    bedrock: rawText,
    cohere: carried('messages.1.tool_calls.0.function.arguments'),
  },
  'call of a custom tool': {
    anthropic: mapped('messages.1.content.0.input', 'the text as `input`'),
    gemini: mapped(`${geminiParts}.0.functionCall.args`, 'the text as `input`'),
    bedrock: mapped(`${converseBlock}.toolUse.input`, 'the text as `input`'),
    cohere: mapped('messages.1.tool_calls.0.function.arguments', 'the text as `input`'),
  },
  'call with a name other than 1 to 64 letters, digits, _ and -': {
    anthropic: mapped('messages.1.content.0.name', renamed),
    gemini: mapped(`${geminiParts}.0.functionCall.name`, renamed),
    bedrock: mapped(`${converseBlock}.toolUse.name`, renamed),
    cohere: mapped('messages.1.tool_calls.0.function.name', renamed),
  },
  'function_call of an answer (legacy)': {
    anthropic: mapped('messages.1.content.0.input', '`tool_use`'),
    gemini: mapped(`${geminiParts}.0.functionCall`, '`functionCall`'),
    bedrock: mapped(`${converseBlock}.toolUse`, '`toolUse`'),
    cohere: mapped('messages.1.tool_calls.0.function', '`tool_calls`'),
  },
  cache_control: {
    anthropic: carried('messages.0.content.0.cache_control'),
    gemini: ignored,
    bedrock: except(mapped('messages.0.content.1.cachePoint', '`cachePoint`'), {
      noCacheMarks: ignored,
    }),
    cohere: ignored,
  },
} as const satisfies TranslationRows
