import type { Bill, TokenCounts } from '../core/bill.ts'
import type { ModalityTokens } from '../core/billing.ts'
import type { UsageRow } from '../store/index.ts'

/** Reads the tokens of a row that is one answer, by the kinds that have prices of their own. */
export function readTokenCounts(row: UsageRow, { written12h = 0, modalities }: Bill): TokenCounts {
  return {
    promptTokens: row.tokensIn,
    completionTokens: row.tokensOut,
    cachedTokens: row.cachedTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    cacheWrite1hTokens: (row.cacheWriteLongTokens ?? 0) - written12h,
    cacheWrite12hTokens: written12h,
    reasoningTokens: row.reasoningTokens,
    modalities: readModalities(row, modalities),
  }
}

function readModalities(row: UsageRow, others: Bill['modalities']): ModalityTokens | undefined {
  const { audioTokensIn, audioTokensOut, imageTokensIn, imageTokensOut } = row
  const known = [audioTokensIn, audioTokensOut, imageTokensIn, imageTokensOut]
  if (!others && known.every((count) => count === null)) return undefined
  return {
    ...others,
    audioInput: audioTokensIn ?? undefined,
    audioOutput: audioTokensOut ?? undefined,
    imageInput: imageTokensIn ?? undefined,
    imageOutput: imageTokensOut ?? undefined,
  }
}
