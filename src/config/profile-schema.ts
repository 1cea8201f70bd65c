import * as z from 'zod'
import {
  type ProfileFields,
  type ProfileSetting,
  reasoningFields,
  reasoningHistories,
  reasoningSwitches,
  responseFormatWords,
  toolChoiceWords,
} from '../core/profile.ts'
import { distinct, text, word } from './rules.ts'

/** Members of a body that the gateway itself decides. */
const ownMembers = ['model', 'messages', 'stream']

const extraBody = z
  .record(z.string(), z.unknown())
  .refine((table) => !ownMembers.some((name) => name in table), {
    error: 'must not name model, messages or stream',
  })

/** The fields of a profile that a file may set. Each says how an upstream differs from OpenAI's API. */
const profileTable = z.strictObject({
  /** The row that the other fields change, in place of the one in force. */
  base: z.string().optional(),
  system_messages: z.enum(['first', 'anywhere']).optional(),
  late_system: z.enum(['user', 'merge']).optional(),
  merge_same_role: z.boolean().optional(),
  user_after_tool: z.enum(['allowed', 'assistant']).optional(),
  tool_call_ids: z.enum(['any', 'nine']).optional(),
  tool_choices: distinct(z.enum(toolChoiceWords)).optional(),
  tool_choices_thinking: distinct(z.enum(toolChoiceWords)).optional(),
  strict_tools: z.boolean().optional(),
  parallel_tool_calls: z.boolean().optional(),
  schema: z.enum(['plain', 'inline', 'moonshot', 'gemini']).optional(),
  bound_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  drop_parameters: distinct(word).optional(),
  response_formats: distinct(z.enum(responseFormatWords)).optional(),
  response_formats_with_tools: distinct(z.enum(responseFormatWords)).optional(),
  reasoning_switch: z.enum(reasoningSwitches).optional(),
  template_argument: word.optional(),
  reasoning_efforts: distinct(text).optional(),
  reasoning_off: z.boolean().optional(),
  thinking_budget: z.boolean().optional(),
  thinks_by_default: z.boolean().optional(),
  reasoning_field: z.enum(reasoningFields).optional(),
  reasoning_history: z.enum(reasoningHistories).optional(),
  reasoning_missing: z.enum(['omit', 'empty', 'space']).optional(),
  cache_control: z.boolean().optional(),
  prompt_cache_key: z.boolean().optional(),
  service_tier: z.boolean().optional(),
  stream_end: z.enum(['finish', 'done']).optional(),
  extra_body: extraBody.optional(),
})

export type ProfileTable = z.infer<typeof profileTable>

/** The setting `profile` of a provider or a model: the name of a row, or a table. */
export const profileSetting = z.union([z.string(), profileTable], {
  error: 'must be the name of a profile, or a table',
})

export type ProfileConfig = z.infer<typeof profileSetting>

/** Returns the settings of a provider and of its model in the order in which they apply. */
export function toProfileSettings(
  given: readonly (ProfileConfig | undefined)[],
): readonly ProfileSetting[] {
  return given.flatMap((setting) => {
    if (setting === undefined) return []
    return typeof setting === 'string' ? setting : toFields(setting)
  })
}

function toFields({ base, ...table }: ProfileTable): ProfileSetting {
  const given = Object.entries(table).filter(([, value]) => value !== undefined)
  const fields = Object.fromEntries(given.map(([name, value]) => [toCamelCase(name), value]))
  // The schema has checked the values, and its names are those of the fields.
  return { base, fields: fields as ProfileFields }
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
