import * as z from 'zod'
import { distinct, setting } from './rules.ts'

/** Members that decide which model is asked, what is reserved for a request and what it costs. */
const reserved: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'messages',
  'system',
  'instructions',
  'input',
  'state',
  'questions',
  'images',
  'assets',
  'prompt',
  'contents',
  'systemInstruction',
  'query',
  'documents',
  'texts',
  'inputs',
  'tools',
  'toolConfig',
  'extra_body',
  'n',
  'best_of',
  'candidateCount',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
  'generationConfig',
  'inferenceConfig',
  'service_tier',
  'serviceTier',
  'speed',
  'inference_geo',
  'performanceConfig',
  'previous_response_id',
  'conversation',
  'cached_content',
  'cachedContent',
  'web_search_options',
  'search_parameters',
  'plugins',
])

const reservedRule = 'is a member that the gateway routes or prices by, so it cannot be changed'

const name = z
  .string()
  .min(1, { error: 'must not be empty' })
  .refine((member) => !reserved.has(member), { error: reservedRule })

/** What JSON can say; TOML has dates, too. */
const value = z.unknown().refine(isJson, { error: 'must be a value of JSON, without dates' })

/** The names of a record have no messages of their own. */
const members = z.record(z.string(), value).check(({ value: given, issues }) => {
  for (const member of Object.keys(given)) {
    if (!reserved.has(member)) continue
    issues.push({ code: 'custom', input: given, path: [member], message: reservedRule })
  }
})

/** The table `[providers.models.body]`. */
export const bodySchema = setting(
  'Changes the top-level members of the [bodies that are sent upstream](resilience.md#changed-bodies), ' +
    'on every door and for every kind, by the names of the vendor. No name may be in two of the three.',
  z
    .strictObject({
      set: setting('Members that get these values.', members.default({})),
      default: setting(
        'Members that get these values where a request has none; one that is `null` is there.',
        members.default({}),
      ),
      drop: setting('Members that are left out.', distinct(name).default([])),
    })
    .check(({ value: body, issues }) => {
      const names = [...Object.keys(body.set), ...Object.keys(body.default), ...body.drop]
      for (const repeated of names.filter((one, at) => names.indexOf(one) !== at)) {
        const message = `names ${JSON.stringify(repeated)} in two of set, default and drop`
        issues.push({ code: 'custom', input: body, message })
      }
    }),
)

export type BodyConfig = z.infer<typeof bodySchema>

function isJson(given: unknown): boolean {
  switch (typeof given) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(given)
    case 'object':
      if (given === null || given instanceof Date) return false
      return Object.values(given).every(isJson)
    default:
      return false
  }
}
