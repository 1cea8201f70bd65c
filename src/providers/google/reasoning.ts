import { toNearestEffort } from '../../core/thinking-wish.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import { type GeminiModel, toGeneration } from './models.ts'
import { readOwnFields } from './own-fields.ts'

/**
 * The `thinkingConfig` of a request. Gemini answers 400 to a budget together with a level.
 * https://ai.google.dev/gemini-api/docs/thinking
 */
export interface ThinkingConfig {
  readonly thinkingBudget?: number | undefined
  readonly thinkingLevel?: string | undefined
  readonly includeThoughts?: boolean | undefined
}

/**
 * Returns the thinking configuration of a request: Google's own `thinking_config` when the client
 * sends it, otherwise the configuration that says the wish of the request to this model.
 */
export function readThinkingConfig(
  request: CanonicalRequest,
  model: GeminiModel,
): ThinkingConfig | undefined {
  const fromWish = toThinkingConfig(request.thinking, model)
  const own = readOwnConfig(request)
  if (!own) return fromWish
  const { thinkingBudget, thinkingLevel } = own
  const isDepthGiven = thinkingBudget !== undefined || thinkingLevel !== undefined
  return isDepthGiven ? own : { ...fromWish, includeThoughts: own.includeThoughts }
}

type Wish = CanonicalRequest['thinking']

/** Undefined when the model has no word for the wish, or needs none. */
function toThinkingConfig(wish: Wish, model: GeminiModel): ThinkingConfig | undefined {
  if (wish.kind === 'unset' || !takesConfig(model)) return undefined
  if (wish.kind === 'off') return mapEffort(model, 'none')
  // The client pays for thoughts, so it gets them.
  return { ...toDepth(wish, model), includeThoughts: true }
}

/** Image models accept other levels, which Google does not document. */
function takesConfig({ name, generation }: GeminiModel): boolean {
  return generation >= toGeneration(2, 5) && !name.includes('-image')
}

function toDepth(
  { effort, budget }: Extract<Wish, { kind: 'on' }>,
  model: GeminiModel,
): ThinkingConfig {
  const isLevelled = model.generation >= toGeneration(3)
  if (budget !== undefined) {
    if (!isLevelled) return { thinkingBudget: clampBudget(budget, model) }
    return mapEffort(model, effort ?? toNearestEffort(budget))
  }
  if (effort !== undefined) return mapEffort(model, effort)
  // Without a level the model decides. -1 says so to older ones, some of which do not think by themselves.
  return isLevelled ? {} : { thinkingBudget: -1 }
}

function mapEffort(model: GeminiModel, effort: ReasoningEffort | 'none'): ThinkingConfig {
  if (model.generation >= toGeneration(3)) return { thinkingLevel: mapLevel(model, effort) }
  return { thinkingBudget: clampBudget(budgets[effort], model) }
}

/** The bounds of a budget other than 0, in tokens: https://ai.google.dev/gemini-api/docs/thinking */
function clampBudget(budget: number, { name }: GeminiModel): number {
  const isPro = name.includes('2.5-pro')
  // 2.5 Pro always thinks.
  if (budget <= 0 && !isPro) return 0
  const min = isPro ? 128 : name.includes('flash-lite') ? 512 : 1
  return Math.min(Math.max(Math.trunc(budget), min), isPro ? 32_768 : 24_576)
}

/** Whether the wish of a request of another API can be said to a model that would do otherwise. */
export function canSayWish({ thinking: wish }: CanonicalRequest, model: GeminiModel): boolean {
  if (wish.kind === 'unset') return false
  if (wish.kind === 'off') return !alwaysThinks(model)
  return takesConfig(model) || wish.budget === undefined
}

function alwaysThinks({ name, generation }: GeminiModel): boolean {
  return generation >= toGeneration(3) || name.includes('2.5-pro')
}

/**
 * Budgets in tokens, from Google's own OpenAI-compatible API.
 * https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const budgets: Readonly<Record<ReasoningEffort | 'none', number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
}

/** Levels by model: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thinking */
function mapLevel({ name, generation }: GeminiModel, effort: ReasoningEffort | 'none'): string {
  switch (effort) {
    case 'none':
    case 'minimal': {
      const isSmall = name.includes('flash-lite')
      const isOldFlash = name.includes('flash') && generation <= toGeneration(3, 6)
      // Pro models, and Flash models from 3.7 on, answer 400 to MINIMAL.
      return isSmall || isOldFlash ? 'MINIMAL' : 'LOW'
    }
    case 'low':
      return 'LOW'
    case 'medium':
      // 3 Pro accepts only LOW and HIGH.
      return name.startsWith('gemini-3-pro') ? 'HIGH' : 'MEDIUM'
    default:
      return 'HIGH'
  }
}

function readOwnConfig(request: CanonicalRequest): ThinkingConfig | undefined {
  const { thinking_config: config } = readOwnFields(request)
  if (!config) return undefined
  return {
    thinkingBudget: config.thinking_budget ?? undefined,
    thinkingLevel: config.thinking_level?.toUpperCase() ?? undefined,
    includeThoughts: config.include_thoughts ?? undefined,
  }
}
