import { type BillingFacts, keepUncounted, toOpenAiTier } from './billing.ts'

/** What the counts of an answer consist of, as far as it is known. */
interface UsageDetails {
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  /** The part of `cacheWriteTokens` written for one hour, which has its own price. */
  readonly cacheWrite1hTokens?: number | undefined
  /** The part of `cacheWriteTokens` written for twelve hours. */
  readonly cacheWrite12hTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  /** The searches of the web that the vendor ran and bills apart from tokens. */
  readonly webSearches?: number | undefined
  /** What else the answer says of its bill. */
  readonly billing?: BillingFacts | undefined
}

/** Token counts of one answer as the OpenAI API defines them: prompt includes cached, completion includes reasoning. */
export interface Usage extends UsageDetails {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** A count is an estimate, by the gateway or, as the upstream reports, by the upstream. */
  readonly estimated: boolean
  /** The sides that the gateway estimated; absent when the upstream reported both. */
  readonly estimatedSide?: 'prompt' | 'completion' | 'both' | undefined
}

/** The token counts that an upstream reports, before validation. A missing side is undefined. */
export interface ReportedUsage extends UsageDetails {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  /** The upstream marks its counts as an estimate. */
  readonly estimated?: boolean | undefined
  /** The object itself, where the client's stream has the form of the upstream's. */
  readonly members?: Readonly<Record<string, unknown>> | undefined
}

/** Returns what an answer without counts says of its bill; undefined when it says nothing. */
export function reportFacts(billing: BillingFacts | undefined): ReportedUsage | undefined {
  return billing && { promptTokens: undefined, completionTokens: undefined, billing }
}

/** True for a usable token count: a non-negative safe integer. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** True for a usable count or undefined, because a vendor may leave the count out. */
export function isOptionalCount(value: unknown): value is number | undefined {
  return value === undefined || isCount(value)
}

/** Returns the reported prompt tokens; undefined when they are not a count, or 0: no prompt is empty. */
export function parsePromptCount(value: unknown): number | undefined {
  return isCount(value) && value > 0 ? value : undefined
}

/** True when a vendor reports tokens of either side. */
export function hasTokens(usage: ReportedUsage | undefined): usage is ReportedUsage {
  return (usage?.promptTokens ?? 0) > 0 || (usage?.completionTokens ?? 0) > 0
}

export interface ResolveUsageOptions {
  /** The length of everything generated, in UTF-8 bytes. */
  readonly outputBytes: number
  /** Estimates both sides in place of the upstream. */
  readonly estimate: () => Usage
}

/**
 * Returns the usage of an answer. Each side is taken as reported, or estimated when it is missing or not
 * credible: LM Studio, old versions of llama.cpp and some proxies report zeros for an answer with text.
 */
export function resolveUsage(
  reported: ReportedUsage | undefined,
  { outputBytes, estimate }: ResolveUsageOptions,
): Usage {
  if (!reported) return estimate()
  const prompt = findCrediblePrompt(reported)
  const completion = findCredibleCompletion(reported, outputBytes)
  const usage =
    prompt !== undefined && completion !== undefined
      ? toUsage(reported, prompt, completion)
      : completeUsage(reported, { prompt, completion, estimated: estimate() })
  // Each side may be a safe integer although the sum is not.
  return isCount(usage.totalTokens) ? usage : estimate()
}

/**
 * Some vendors count what was read from a cache beside the prompt, as Grok on Azure does: more cached tokens than
 * the prompt has are added to it. Tokens may have been both read and written. Undefined when more were written
 * than the whole prompt has.
 */
function findCrediblePrompt({
  promptTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
}: ReportedUsage): number | undefined {
  const count = parsePromptCount(promptTokens)
  if (count === undefined) return undefined
  const whole = count + countOutside(count, cachedTokens)
  return isCount(whole) && cacheWriteTokens <= whole ? whole : undefined
}

/** Counts the cached tokens that a vendor does not count in the prompt. */
export function countOutside(promptTokens: number, cachedTokens = 0): number {
  return cachedTokens > promptTokens ? cachedTokens : 0
}

function findCredibleCompletion(
  { completionTokens = 0 }: ReportedUsage,
  outputBytes: number,
): number | undefined {
  return completionTokens > 0 || outputBytes === 0 ? completionTokens : undefined
}

function toUsage(reported: ReportedUsage, promptTokens: number, completionTokens: number): Usage {
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: reported.cachedTokens,
    cacheWriteTokens: reported.cacheWriteTokens,
    cacheWrite1hTokens: reported.cacheWrite1hTokens,
    cacheWrite12hTokens: reported.cacheWrite12hTokens,
    reasoningTokens: reported.reasoningTokens,
    webSearches: reported.webSearches,
    billing: reported.billing,
    estimated: reported.estimated === true,
  }
}

interface CredibleSides {
  /** Undefined when the estimate is used. */
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly estimated: Usage
}

/** Cache counts are kept only together with the reported prompt count. */
function completeUsage(
  reported: ReportedUsage,
  { prompt, completion, estimated }: CredibleSides,
): Usage {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, cacheWrite12hTokens } = reported
  const { reasoningTokens } = reported
  const promptTokens = prompt ?? estimated.promptTokens
  const completionTokens = completion ?? Math.max(estimated.completionTokens, reasoningTokens ?? 0)
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(prompt !== undefined && {
      cachedTokens,
      cacheWriteTokens,
      cacheWrite1hTokens,
      cacheWrite12hTokens,
    }),
    reasoningTokens,
    webSearches: reported.webSearches,
    billing: keepUncounted(reported.billing),
    estimated: true,
    estimatedSide:
      prompt !== undefined ? 'completion' : completion !== undefined ? 'prompt' : 'both',
  }
}

/** Returns the usage of an answer without generated text: vectors or a ranking. */
export function createPromptUsage(tokens: number, estimated: boolean): Usage {
  const estimatedSide = estimated ? 'prompt' : undefined
  return {
    promptTokens: tokens,
    completionTokens: 0,
    totalTokens: tokens,
    estimated,
    estimatedSide,
  }
}

/** Returns the usage with exact counts in place of the gateway's estimates. */
export function applyExactCounts(usage: Usage, exact: Usage): Usage {
  const { estimatedSide: side, reasoningTokens = 0 } = usage
  const promptTokens = side === 'completion' ? usage.promptTokens : exact.promptTokens
  const completionTokens =
    side === 'prompt' ? usage.completionTokens : Math.max(exact.completionTokens, reasoningTokens)
  return { ...usage, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
}

/** The names of counts in the `usage` object of an API. */
export interface CountNames {
  readonly prompt: readonly string[]
  readonly completion: readonly string[]
  readonly always: readonly string[]
}

/** Lists the members of `usage` that the gateway estimated: all others are the upstream's. */
export function listEstimated(
  { estimatedSide: side }: Usage,
  { prompt, completion, always }: CountNames,
): readonly string[] {
  return [
    ...(side === 'completion' ? [] : prompt),
    ...(side === 'prompt' ? [] : completion),
    ...always,
    'estimated',
  ]
}

/** Those of an OpenAI-shaped answer. */
export const chatCounts: CountNames = Object.freeze({
  prompt: ['prompt_tokens'],
  completion: ['completion_tokens'],
  always: ['total_tokens'],
})

/** Renders the tier of an OpenAI-shaped answer: that which served. Nothing where the vendor does not name it. */
export function renderTier({ billing }: Usage): { readonly service_tier?: string } {
  return billing?.tier === undefined ? noTier : { service_tier: toOpenAiTier(billing.tier) }
}

const noTier = Object.freeze({})

/** Renders the `usage` object of an OpenAI-shaped answer. */
export function renderUsage(usage: Usage): Record<string, unknown> {
  const prompt = {
    ...(usage.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
    ...(usage.cacheWriteTokens !== undefined && { cache_creation_tokens: usage.cacheWriteTokens }),
  }
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(usage.reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    }),
    ...(usage.webSearches !== undefined && {
      server_tool_use: { web_search_requests: usage.webSearches },
    }),
    ...(usage.estimated && { estimated: true }),
  }
}
