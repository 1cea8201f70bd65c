/** Token counts of one answer, in the meaning of the OpenAI API: prompt includes cached, completion includes reasoning. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  /** How many of these were written for an hour, which has a price of its own. */
  readonly cacheWrite1hTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  /** True when a count is an estimate: the gateway's, or by its own word the upstream's. */
  readonly estimated: boolean
  /** The sides that the gateway has estimated; absent where the upstream reported both. */
  readonly estimatedSide?: 'prompt' | 'completion' | 'both' | undefined
}

/** What an upstream reports of an answer, before it is judged. A side that it leaves out is undefined. */
export interface ReportedUsage {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  /** How many of these were written for an hour, which has a price of its own. */
  readonly cacheWrite1hTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  /** The upstream says of its counts that they are an estimate. */
  readonly estimated?: boolean | undefined
}

/** A count that can be trusted: a non-negative safe integer. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The same, or nothing: a vendor may leave the count out. */
export function isOptionalCount(value: unknown): value is number | undefined {
  return value === undefined || isCount(value)
}

/** The reported tokens of a prompt; undefined when they are no count, or 0: no prompt is empty. */
export function parsePromptCount(value: unknown): number | undefined {
  return isCount(value) && value > 0 ? value : undefined
}

export interface ResolveUsageOptions {
  /** UTF-8 bytes of everything that was generated. */
  readonly outputBytes: number
  /** Counts both sides in the upstream's place. */
  readonly estimate: () => Usage
}

/**
 * The usage of an answer, judged side by side: a side that is missing or cannot be true is estimated,
 * the other one stays as reported. LM Studio, old llama.cpp and some proxies report zeros for an
 * answer with text.
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
  // Each side may be a safe integer and their sum none.
  return isCount(usage.totalTokens) ? usage : estimate()
}

/** Undefined also when more is said to come from or go to a cache than the whole prompt. */
function findCrediblePrompt({
  promptTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
}: ReportedUsage): number | undefined {
  const count = parsePromptCount(promptTokens)
  return count !== undefined && cachedTokens + cacheWriteTokens <= count ? count : undefined
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
    reasoningTokens: reported.reasoningTokens,
    estimated: reported.estimated === true,
  }
}

interface CredibleSides {
  /** Undefined where the estimate stands in. */
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly estimated: Usage
}

/** What is known of a cached prompt goes with the prompt's count. */
function completeUsage(
  { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens }: ReportedUsage,
  { prompt, completion, estimated }: CredibleSides,
): Usage {
  const promptTokens = prompt ?? estimated.promptTokens
  const completionTokens = completion ?? Math.max(estimated.completionTokens, reasoningTokens ?? 0)
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(prompt !== undefined && { cachedTokens, cacheWriteTokens, cacheWrite1hTokens }),
    reasoningTokens,
    estimated: true,
    estimatedSide:
      prompt !== undefined ? 'completion' : completion !== undefined ? 'prompt' : 'both',
  }
}

/** The usage of an answer for which nothing is generated: vectors, or a ranking. */
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

/** The same usage with exact counts in the place of the gateway's estimates. */
export function applyExactCounts(usage: Usage, exact: Usage): Usage {
  const { estimatedSide: side, reasoningTokens = 0 } = usage
  const promptTokens = side === 'completion' ? usage.promptTokens : exact.promptTokens
  const completionTokens =
    side === 'prompt' ? usage.completionTokens : Math.max(exact.completionTokens, reasoningTokens)
  return { ...usage, promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
}

/** The `usage` object of an OpenAI-shaped answer. */
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
    ...(usage.estimated && { estimated: true }),
  }
}
