import * as z from 'zod'
import { list } from '../../core/as-sent.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { jsonObject } from '../canonical/tools.ts'

/** The name of a beta feature, which goes into a header. */
const beta = z.string().regex(/^[\w.-]+$/, 'must be the name of a beta feature')

/** The schemas of Claude's own fields that it takes at Anthropic and on Bedrock. */
export const claudeFields = {
  thinking: jsonObject,
  output_config: jsonObject,
  context_management: jsonObject,
  anthropic_beta: list(beta).nullish(),
}

/** The members of `output_config` that the gateway writes. */
interface OutputConfig {
  readonly effort?: string | undefined
  readonly format?: object | undefined
}

/** Adds the client's own `output_config`, whose members win. */
export function mergeOutputConfig(
  { effort, format }: OutputConfig,
  own: JsonObject | null | undefined,
): object | undefined {
  return effort || format || own ? { effort, format, ...own } : undefined
}
