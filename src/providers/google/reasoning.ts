import * as z from 'zod'
import { schemaMessages, untranslatableField } from '../../core/invalid-field.ts'
import { isObject } from '../../wire/json.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type GeminiModel, generation } from './models.ts'

/** The `thinkingConfig` of a request. Budget and level together are a 400 upstream. */
export interface ThinkingConfig {
  readonly thinkingBudget?: number | undefined
  readonly thinkingLevel?: string | undefined
  readonly includeThoughts?: boolean | undefined
}

/**
 * What a request asks of the model's thinking: Google's own `thinking_config` where the client
 * sends it, else what `reasoning_effort` means for this model.
 */
export function readThinkingConfig(
  request: CanonicalRequest,
  model: GeminiModel,
): ThinkingConfig | undefined {
  const { reasoningEffort: effort } = request
  const fromEffort = effort && toThinkingConfig(model, effort)
  const own = parseOwnConfig(request)
  if (!own) return fromEffort
  const { thinkingBudget, thinkingLevel } = own
  const isDepthGiven = thinkingBudget !== undefined || thinkingLevel !== undefined
  return isDepthGiven ? own : { ...fromEffort, includeThoughts: own.includeThoughts }
}

/** What `reasoning_effort` asks of this model; undefined when it cannot be asked for. */
export function toThinkingConfig(model: GeminiModel, effort: string): ThinkingConfig | undefined {
  const depth = mapEffort(model, effort)
  // Thoughts are paid for, so they are shown; without thinking there are none.
  return depth && effort !== 'none' ? { ...depth, includeThoughts: true } : depth
}

function mapEffort(model: GeminiModel, effort: string): ThinkingConfig | undefined {
  // Image models take other sets of levels, which are nowhere listed.
  if (model.name.includes('-image')) return undefined
  const budget = budgets.get(effort)
  if (budget === undefined || model.generation < generation(2, 5)) return undefined
  if (model.generation >= generation(3)) return { thinkingLevel: mapLevel(model, effort) }
  // 2.5 Pro cannot do without thinking; 128 is its least.
  const isPro = model.name.includes('2.5-pro')
  return { thinkingBudget: isPro ? Math.max(128, budget) : budget }
}

/** The budgets of Google's own OpenAI-compatible API. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24576],
  ['xhigh', 24576],
  ['max', 24576],
])

function mapLevel({ name, generation: own }: GeminiModel, effort: string): string {
  switch (effort) {
    case 'none':
    case 'minimal': {
      const isSmall = name.includes('flash-lite')
      const isOldFlash = name.includes('flash') && own <= generation(3, 6)
      // Pro models and the Flash models from 3.7 on answer 400 to MINIMAL.
      return isSmall || isOldFlash ? 'MINIMAL' : 'LOW'
    }
    case 'low':
      return 'LOW'
    case 'medium':
      // 3 Pro knows LOW and HIGH only.
      return name.startsWith('gemini-3-pro') ? 'HIGH' : 'MEDIUM'
    default:
      return 'HIGH'
  }
}

/** As Google's OpenAI-compatible API takes it: https://ai.google.dev/gemini-api/docs/openai#thinking */
const googleFields = z.looseObject({
  thinking_config: z
    .looseObject({
      thinking_budget: z.int().nullish(),
      thinking_level: z.string().nullish(),
      include_thoughts: z.boolean().nullish(),
    })
    .nullish(),
})

/** The client's own `google.thinking_config`, at the top level or under `extra_body`. */
function parseOwnConfig({ raw }: CanonicalRequest): ThinkingConfig | undefined {
  const nested = isObject(raw['extra_body']) ? raw['extra_body']['google'] : undefined
  const [google, path] =
    raw['google'] === undefined ? [nested, 'extra_body.google'] : [raw['google'], 'google']
  if (google === undefined || google === null) return undefined
  const { data, error } = googleFields.safeParse(google, schemaMessages)
  if (error) throw untranslatableField(error, path)
  const config = data.thinking_config
  if (!config) return undefined
  return {
    thinkingBudget: config.thinking_budget ?? undefined,
    thinkingLevel: config.thinking_level?.toUpperCase() ?? undefined,
    includeThoughts: config.include_thoughts ?? undefined,
  }
}
