import { reasoningForms } from './past-reasoning.ts'

/** The values of `tool_choice` that an upstream takes. `named` is a choice of one function. */
export const toolChoiceWords = ['auto', 'none', 'required', 'named'] as const
export type ToolChoiceWord = (typeof toolChoiceWords)[number]

export const responseFormatWords = ['json_object', 'json_schema'] as const
export type ResponseFormatWord = (typeof responseFormatWords)[number]

/**
 * How a request says whether the model thinks, and how much.
 *
 * - `none`: it cannot be said.
 * - `effort`: `reasoning_effort`.
 * - `thinking`: `thinking: {type}`, with `reasoning_effort` beside it where the model has efforts.
 * - `enable_thinking`: a boolean, with `thinking_budget`.
 * - `template`: a boolean in `chat_template_kwargs`, under the name of `templateArgument`.
 * - `openrouter`: the object `reasoning`.
 * - `together`: a boolean in `reasoning`, with `reasoning_effort` beside it where the model has efforts.
 */
export const reasoningSwitches = [
  'none',
  'effort',
  'thinking',
  'enable_thinking',
  'template',
  'openrouter',
  'together',
] as const
export type ReasoningSwitch = (typeof reasoningSwitches)[number]

/** The member of a message in which an upstream takes its reasoning back. `auto`: where it came from. */
export const reasoningFields = ['auto', ...reasoningForms] as const
export type ReasoningField = (typeof reasoningFields)[number]

/**
 * The answers whose reasoning goes back: `none`; those of the current turn (`turn`), which begins with the
 * last user message; those of turns with tool calls (`calls`); or `all`.
 */
export const reasoningHistories = ['none', 'turn', 'calls', 'all'] as const
export type ReasoningHistory = (typeof reasoningHistories)[number]

/**
 * What an upstream of the OpenAI format demands of a chat request that the gateway writes, and how its
 * answers are read. It never changes a request that a client wrote in the API of the upstream.
 */
export interface Profile {
  /** Where system messages may be. With `first`, the leading ones become one. */
  readonly systemMessages: 'first' | 'anywhere'
  /** Where later system messages go: into user text at their place, or into the first system message. */
  readonly lateSystem: 'user' | 'merge'
  /** Neighbouring messages of one role become one. */
  readonly mergeSameRole: boolean
  /** Whether a user message may follow a tool result, or needs an assistant message between. */
  readonly userAfterTool: 'allowed' | 'assistant'
  /** The ids of tool calls: as they came, or nine letters and digits. */
  readonly toolCallIds: 'any' | 'nine'
  readonly toolChoices: readonly ToolChoiceWord[]
  /** The same while the model thinks; `toolChoices` when undefined. */
  readonly toolChoicesThinking: readonly ToolChoiceWord[] | undefined
  /** Names that a tool must not have. */
  readonly reservedToolNames: readonly string[]
  /** `strict` is accepted on functions. */
  readonly strictTools: boolean
  /** `parallel_tool_calls` is accepted. */
  readonly parallelToolCalls: boolean
  /** The form of the schemas of tools. */
  readonly schema: 'plain' | 'inline' | 'moonshot' | 'gemini'
  readonly boundField: 'max_tokens' | 'max_completion_tokens'
  /** Parameters that are left out. */
  readonly dropParameters: readonly string[]
  /** Parameters that have another name. */
  readonly renamedParameters: Readonly<Record<string, string>>
  /** Parameters that are also left out while the model thinks. */
  readonly dropParametersThinking: readonly string[]
  readonly responseFormats: readonly ResponseFormatWord[]
  /** The same while the model thinks; `responseFormats` when undefined. */
  readonly responseFormatsThinking: readonly ResponseFormatWord[] | undefined
  /** The same in a request with tools; `responseFormats` when undefined. */
  readonly responseFormatsWithTools: readonly ResponseFormatWord[] | undefined
  readonly reasoningSwitch: ReasoningSwitch
  /** The argument of `chat_template_kwargs`, for the switch `template`. */
  readonly templateArgument: string
  /** The accepted efforts, from least to most. An effort goes to the nearest, upwards on a tie. */
  readonly reasoningEfforts: readonly string[]
  /** Thinking can be turned off. */
  readonly reasoningOff: boolean
  /** The type of `thinking` that turns it on, for the switch `thinking`. */
  readonly thinkingOn: 'enabled' | 'adaptive'
  /** `thinking` takes a budget of tokens, for the switch `thinking`. */
  readonly thinkingBudget: boolean
  /** The model thinks unless the request says otherwise. */
  readonly thinksByDefault: boolean
  readonly reasoningField: ReasoningField
  readonly reasoningHistory: ReasoningHistory
  /** What takes the place of reasoning that should go back and is not known. */
  readonly reasoningMissing: 'omit' | 'empty' | 'space'
  /** The content of an assistant message that has only tool calls. */
  readonly emptyContent: 'null' | 'empty'
  /** The reasoning is signed: text that carries no proof does not go back. */
  readonly reasoningSigned: boolean
  /** The upstream fetches files by the address in `file_data`. */
  readonly fileAddresses: boolean
  /** `cache_control` is accepted on parts and tools. */
  readonly cacheControl: boolean
  readonly promptCacheKey: boolean
  readonly serviceTier: boolean
  /** `verbosity` is accepted. */
  readonly verbosity: boolean
  /** `done`: a stream ends with `[DONE]`. `finish`: a clean end after the finish reason is complete too. */
  readonly streamEnd: 'finish' | 'done'
  /** Members that are added to the body. */
  readonly extraBody: Readonly<Record<string, unknown>>
}

/** Some of the fields: what one row, family or table of settings says. */
export type ProfileFields = Partial<Profile>

/** The setting `profile`: the name of a row, or single fields on top of the row that is in force. */
export type ProfileSetting =
  | string
  | { readonly base: string | undefined; readonly fields: ProfileFields }

/** The profile of a model, for an operator. */
export interface ProfileOrigin {
  /** The names of the platform and of the family of the model, or the name in the setting. */
  readonly names: readonly string[]
  /** What it was made of: `deepseek (kind), deepseek-4 (upstream id)`. */
  readonly origin: string
}
