import { type Bill, type TokenCounts, writeBill } from '../core/bill.ts'
import type { BillingFacts, ModalityTokens, ToolCalls } from '../core/billing.ts'
import type { Clock } from '../core/ports.ts'
import { writeFailure } from '../core/request-failure.ts'
import type { RecordPrice, RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Usage } from '../core/usage.ts'
import type { ChargedRow, CostSource } from '../store/index.ts'
import type { UsageLog } from './usage-log.ts'

/** Returns a sink that adds a usage row for every request with an account; the others go to `refused`. */
export function usageLogSink(
  log: Pick<UsageLog, 'add'>,
  { clock, refused }: { readonly clock: Clock; readonly refused: RecordSink },
): RecordSink {
  return (record) => {
    const row = toUsageRow(record, clock)
    if (row) log.add(row)
    else refused(record)
  }
}

/**
 * Returns a function that keeps the row of a record whose counts are still to come, and returns the
 * sink of the final record.
 */
export function pendingUsageSink(
  log: Pick<UsageLog, 'recordPending'>,
  clock: Clock,
): (record: RequestRecord) => RecordSink {
  return (record) => {
    const row = toUsageRow(record, clock)
    const add = row && log.recordPending(row)
    return (final) => {
      const finalRow = toUsageRow(final, clock)
      if (finalRow) add?.(finalRow)
    }
  }
}

/** Returns undefined for a request without an account. */
function toUsageRow(record: RequestRecord, clock: Clock): ChargedRow | undefined {
  const { account, model, served, usage, media, timeToFirstToken, price, cacheHit } = record
  if (!account || !model) return undefined
  // A request that no link has served names the last one whose answer is charged.
  const used = served ?? record.charged?.at(-1)?.link
  const facts = usage?.billing ?? noFacts
  const { modalities } = facts
  return {
    ts: unixSeconds(clock),
    requestId: record.requestId,
    keyId: account.keyId,
    groupId: account.groupId,
    model: model.id,
    modelUsed: used?.id ?? null,
    // A route has no provider of its own, so a failed request names the provider that was called last.
    provider: (used ?? model).provider?.name ?? record.lastCalled?.provider.name ?? '',
    capability: record.capability,
    api: record.api,
    stream: record.stream,
    tokensIn: clampCount(usage?.promptTokens),
    tokensOut: clampCount(usage?.completionTokens),
    tokensTotal: clampCount(usage?.totalTokens),
    estimated: usage?.estimated ?? false,
    cachedTokens: clampCount(usage?.cachedTokens),
    cacheWriteTokens: clampCount(usage?.cacheWriteTokens),
    reasoningTokens: clampCount(usage?.reasoningTokens),
    searchUnits: clampCount(record.searchUnits),
    mediaCount: media?.count ?? 0,
    mediaBytes: media?.bytes ?? 0,
    cost: record.cost,
    latencyMs: Math.round(record.latency),
    ttftMs: timeToFirstToken === undefined ? null : Math.round(timeToFirstToken),
    attempts: record.attempts,
    cacheHit,
    status: record.status,
    errorCode: record.errorCode ?? null,
    metadata: record.metadata,
    // Named one by one: a spread takes longer than the rest of the row.
    tier: price?.tier ?? facts.tier ?? null,
    geo: price?.geo ?? facts.geo ?? null,
    cacheWriteLongTokens: clampCount(
      (usage?.cacheWrite1hTokens ?? 0) + (usage?.cacheWrite12hTokens ?? 0),
    ),
    audioTokensIn: modalities?.audioInput ?? null,
    audioTokensOut: modalities?.audioOutput ?? null,
    imageTokensIn: modalities?.imageInput ?? null,
    imageTokensOut: modalities?.imageOutput ?? null,
    toolCalls: usage ? collectToolCalls(usage) : null,
    costSource: usage && price ? findCostSource(usage, price, cacheHit) : null,
    costReported: (!cacheHit && facts.statedCost) || null,
    price: price?.label ?? null,
    bill: describeBill(record),
    queuedMs: record.queued === undefined ? null : Math.round(record.queued),
    failure: writeFailure(record),
    vectors: price?.prices ?? price?.answers,
    keyTerm: record.keyTerm,
    groupTerm: record.groupTerm,
  }
}

const noFacts: BillingFacts = Object.freeze({})

/** The same text for most rows with the same prices. */
function describeBill({ price, reserved, usage }: RequestRecord): string | null {
  const { prices, answers, calculated, isReported } = price ?? noPrice
  const written12h = (answers === undefined && usage?.cacheWrite12hTokens) || undefined
  const modalities = answers === undefined ? keepWithoutColumn(usage) : undefined
  const isPlain =
    answers === undefined && written12h === undefined && modalities === undefined && !isReported
  if (isPlain && prices) {
    return reserved === undefined
      ? `{"price":"${prices.id}"}`
      : `{"price":"${prices.id}","reserved":"${reserved}"}`
  }
  return writeBill({
    price: prices?.id,
    reserved,
    written12h,
    modalities,
    calculated: isReported ? calculated : undefined,
    answers: answers?.map((parts) =>
      parts.map((part) => ({
        prices: part.prices.id,
        tokens: part.tokens && keepCounts(part.tokens),
        fees: part.fees,
      })),
    ),
  })
}

const noPrice: Partial<RecordPrice> = Object.freeze({})

/** A usage has more members than its counts. */
function keepCounts(tokens: TokenCounts): TokenCounts {
  return {
    promptTokens: tokens.promptTokens,
    completionTokens: tokens.completionTokens,
    cachedTokens: tokens.cachedTokens,
    cacheWriteTokens: tokens.cacheWriteTokens,
    cacheWrite1hTokens: tokens.cacheWrite1hTokens,
    cacheWrite12hTokens: tokens.cacheWrite12hTokens,
    reasoningTokens: tokens.reasoningTokens,
    modalities: tokens.modalities,
  }
}

/** The tokens of the other modalities have columns. */
function keepWithoutColumn(usage: Usage | undefined): Bill['modalities'] {
  const { cachedAudioInput, videoInput } = usage?.billing?.modalities ?? noModalities
  return cachedAudioInput || videoInput ? { cachedAudioInput, videoInput } : undefined
}

const noModalities: ModalityTokens = Object.freeze({})

function collectToolCalls({ webSearches, billing }: Usage): ToolCalls | null {
  const toolCalls = billing?.toolCalls
  return webSearches ? { web_search: webSearches, ...toolCalls } : (toolCalls ?? null)
}

function findCostSource(
  { estimated }: Usage,
  { isApproximate, isReported }: RecordPrice,
  cacheHit: boolean,
): CostSource {
  if (cacheHit) return 'free'
  if (isReported) return 'reported'
  if (estimated) return 'estimated'
  return isApproximate ? 'approximate' : 'calculated'
}

/** Clamps a count: the sum over several upstream calls can exceed what a column holds. */
function clampCount(count = 0): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
