import type { CanonicalRequest } from '../canonical/request.ts'
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
 * sends it, otherwise the configuration that matches `reasoning_effort` for this model.
 */
export function readThinkingConfig(
  request: CanonicalRequest,
  model: GeminiModel,
): ThinkingConfig | undefined {
  const { reasoningEffort: effort } = request
  const fromEffort = effort && toThinkingConfig(model, effort)
  const own = readOwnConfig(request)
  if (!own) return fromEffort
  const { thinkingBudget, thinkingLevel } = own
  const isDepthGiven = thinkingBudget !== undefined || thinkingLevel !== undefined
  return isDepthGiven ? own : { ...fromEffort, includeThoughts: own.includeThoughts }
}

/** The configuration for a `reasoning_effort`; undefined when the model does not support it. */
export function toThinkingConfig(model: GeminiModel, effort: string): ThinkingConfig | undefined {
  const depth = mapEffort(model, effort)
  // The client pays for thoughts, so it gets them. An effort of `none` produces no thoughts.
  return depth && effort !== 'none' ? { ...depth, includeThoughts: true } : depth
}

function mapEffort(model: GeminiModel, effort: string): ThinkingConfig | undefined {
  // Image models accept other levels, which Google does not document.
  if (model.name.includes('-image')) return undefined
  const budget = budgets.get(effort)
  if (budget === undefined || model.generation < toGeneration(2, 5)) return undefined
  if (model.generation >= toGeneration(3)) return { thinkingLevel: mapLevel(model, effort) }
  // 2.5 Pro always thinks; its minimum budget is 128 tokens.
  const isPro = model.name.includes('2.5-pro')
  return { thinkingBudget: isPro ? Math.max(128, budget) : budget }
}

/**
 * Budgets in tokens, from Google's own OpenAI-compatible API.
 * https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const budgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24576],
  ['xhigh', 24576],
  ['max', 24576],
])

/** Levels by model: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thinking */
function mapLevel({ name, generation }: GeminiModel, effort: string): string {
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
