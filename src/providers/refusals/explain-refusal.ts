import type { DialectRequest } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { isEchoed } from './echo.ts'
import { type RefusalCause, type RefusalRow, refusalRows } from './table.ts'

/** A failure with the vendor's own words. */
type WordedFailure = Extract<UpstreamFailure, { kind: 'status' | 'error-frame' | 'malformed' }>

interface Rule extends Pick<RefusalRow, 'cause' | 'status'> {
  readonly codes: ReadonlySet<string>
  readonly patterns: readonly RegExp[]
  readonly veto: RegExp | undefined
  readonly vetoCodes: ReadonlySet<string>
}

const rules: readonly Rule[] = refusalRows.map(compileRow)

/**
 * Returns what a failure is by the words and codes of the vendor, which say more than its status: a refusal
 * of the account becomes a 402, a rate limit because of the size of the request the request's fault. Codes
 * always count; words do not when a code says something else, nor when the request that was sent has them
 * too, because vendors quote requests. `getSent` is called only when words match.
 */
export function explainRefusal(
  failure: UpstreamFailure,
  getSent: () => DialectRequest,
): UpstreamFailure {
  switch (failure.kind) {
    case 'status':
    case 'error-frame':
    case 'malformed': {
      const cause = findCause(failure, getSent)
      return cause === undefined ? failure : applyCause(failure, cause)
    }
    default:
      return failure
  }
}

function applyCause(failure: WordedFailure, cause: RefusalCause): UpstreamFailure {
  const { vendor } = failure
  const message = readMessage(failure)
  switch (cause) {
    case 'account':
      return { kind: 'status', status: 402, message, vendor }
    case 'size':
      return { kind: 'status', status: 429, message, vendor, isRequestFault: true }
    default:
      return cause satisfies never
  }
}

function findCause(
  failure: WordedFailure,
  getSent: () => DialectRequest,
): RefusalCause | undefined {
  const { code, type, message: vendorMessage = '' } = failure.vendor ?? {}
  const codes = [code, type].map((one) => String(one ?? '').toLowerCase())
  const status = failure.kind === 'status' ? failure.status : undefined
  const message = `${readMessage(failure)}\n${vendorMessage}`
  let sent: DialectRequest | undefined
  const counts = (pattern: RegExp) =>
    pattern.test(message) && !isEchoed(pattern, (sent ??= getSent()))
  return rules.find((rule) => {
    if (rule.status !== undefined && rule.status !== status) return false
    if (codes.some((one) => rule.codes.has(one))) return true
    if (codes.some((one) => rule.vetoCodes.has(one)) || rule.veto?.test(message)) return false
    return rule.patterns.some(counts)
  })?.cause
}

function readMessage(failure: WordedFailure): string {
  return failure.kind === 'malformed' ? failure.detail : failure.message
}

function compileRow(row: RefusalRow): Rule {
  const { cause, status, codes = [], texts = [], vetoes = [], vetoCodes = [] } = row
  const vetoTexts = [...vetoes, ...vetoCodes]
  return {
    cause,
    ...(status !== undefined && { status }),
    codes: toLowerCases(codes),
    patterns: [...codes, ...texts].map((text) => new RegExp(toSource(text), 'i')),
    veto: vetoTexts.length === 0 ? undefined : new RegExp(vetoTexts.map(toSource).join('|'), 'i'),
    vetoCodes: toLowerCases(vetoCodes),
  }
}

function toLowerCases(codes: readonly string[]): ReadonlySet<string> {
  return new Set(codes.map((code) => code.toLowerCase()))
}

/** The source of a pattern that takes linear time: no text begins with a number or white space. */
function toSource(text: string): string {
  return text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(' ', '\\s+')
    .replaceAll('#', '\\d[\\d.,_]*')
}
