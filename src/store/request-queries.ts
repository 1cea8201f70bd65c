import type { Api } from '../core/capability.ts'
import type { NanoUsd } from '../core/ids.ts'

/** Which requests a list holds; an absent member holds all. */
export interface RequestFilter {
  /** The value of `x-request-id`. There is no index of requests: all rows of the window are read. */
  readonly requestId?: string | undefined
  readonly keyId?: string | undefined
  readonly groupId?: string | undefined
  /** What the client asked for. */
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly errorCode?: string | undefined
  readonly statuses?: StatusRange | undefined
}

/** Both inclusive. */
export interface StatusRange {
  readonly from: number
  readonly to: number
}

/** A place between the rows of both tables: ids increase with the writes, so no later row is before it. */
export interface RequestPosition {
  readonly usage: number
  readonly refused: number
}

export interface RequestListQuery extends RequestFilter {
  /** Both inclusive, unix seconds; absent without a window. */
  readonly window?: { readonly since: number; readonly until: number } | undefined
  /** `older`: the newest row first. `newer`: in the order of the writes. */
  readonly direction: 'older' | 'newer'
  /** Where the page begins; absent: at the newest row, or at the oldest one. */
  readonly position?: RequestPosition | undefined
  readonly limit: number
}

/** A refused request without a row in the usage log. It never holds prompts. */
export interface RefusedRow {
  /** When it ended, unix seconds. */
  readonly ts: number
  readonly requestId: string
  /** Null without a valid key. */
  readonly keyId: string | null
  readonly groupId: string | null
  readonly api: Api
  readonly stream: boolean
  /** What the client asked for; null where it is not known. */
  readonly model: string | null
  readonly status: number
  readonly errorCode: string | null
  /** As `writeFailure` writes it. */
  readonly failure: string | null
  readonly latencyMs: number
  /** How many alike requests the row stands for, itself included. */
  readonly count: number
}

/** The number of refused requests that are kept. */
export const refusedKept = 50_000

/** Rows that are written together, once, no matter how often they are sent. */
export interface RefusedBatch {
  /** Random; the same when the batch is sent again. */
  readonly id: string
  readonly rows: readonly RefusedRow[]
}

/** A row of a list: of the usage log, or of the refused requests. */
export interface RequestRow extends RefusedRow {
  readonly log: 'usage' | 'refused'
  /** Unique within its log. */
  readonly id: number
  readonly modelUsed: string | null
  /** As in the usage log; null for a refused request. */
  readonly provider: string | null
  readonly ttftMs: number | null
  readonly queuedMs: number | null
  readonly tokensIn: number
  readonly tokensOut: number
  readonly estimated: boolean
  readonly cost: NanoUsd
  readonly cacheHit: boolean
  readonly attempts: number
}

export interface RequestPage {
  readonly rows: readonly RequestRow[]
  /** Where the next page begins. */
  readonly end: RequestPosition
  /** Behind the newest rows of all when the page was read. */
  readonly newest: RequestPosition
  /** There are no further rows now. */
  readonly isLast: boolean
}
