import type { DialectRequest } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { VendorError } from '../../core/vendor-error.ts'
import { isObject } from '../../wire/json/parse.ts'
import { isEchoed } from './echo.ts'
import { type RefusalCause, type RefusalRow, refusalRows } from './table.ts'

/** A failure with the vendor's own words. */
type WordedFailure = Extract<UpstreamFailure, { kind: 'status' | 'error-frame' | 'malformed' }>

interface Rule extends Pick<RefusalRow, 'cause' | 'status' | 'exceptStatus' | 'isStatusEnough'> {
  readonly codes: RegExp | undefined
  readonly patterns: readonly RegExp[]
  readonly veto: RegExp | undefined
}

const rules: readonly Rule[] = refusalRows.map(compileRow)

/**
 * Returns what a failure is by the words and codes of the vendor, which say more than its status: a refusal
 * of the account becomes a 402, a rate limit because of the size of the request the request's fault. Codes
 * always count; words do not when a code says something else, nor when the request that was sent has them
 * too, because vendors quote requests. `getSent` is called only when words match;
 * when it returns undefined, they do not count.
 */
export function explainRefusal(
  failure: UpstreamFailure,
  getSent: () => DialectRequest | undefined,
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
    case 'prompt-too-long':
    case 'content-filter':
      return { kind: 'status', status: 400, message, vendor, refusal: cause }
    default:
      return cause satisfies never
  }
}

function findCause(
  failure: WordedFailure,
  getSent: () => DialectRequest | undefined,
): RefusalCause | undefined {
  const codes = listCodes(failure.vendor)
  const status = failure.kind === 'status' ? failure.status : undefined
  const message = `${readMessage(failure)}\n${failure.vendor?.message ?? ''}`
  const holding = rules.filter(
    (rule) => (rule.status ?? status) === status && (rule.exceptStatus ?? 0) !== status,
  )
  const coded = holding.find((rule) => codes.some((one) => rule.codes?.test(one)))
  if (coded) return coded.cause
  const words = [...codes, message].join('\n')
  let sent: DialectRequest | undefined
  const counts = (pattern: RegExp) => {
    if (!pattern.test(message)) return false
    sent ??= getSent()
    return sent !== undefined && !isEchoed(pattern, sent)
  }
  return holding.find(
    ({ veto, patterns, isStatusEnough }) =>
      !veto?.test(words) && (isStatusEnough === true || patterns.some(counts)),
  )?.cause
}

function listCodes({ code, type, details }: VendorError = {}): string[] {
  const inner = details?.['innererror']
  return [code, type, isObject(inner) ? inner['code'] : undefined].map((one) => String(one ?? ''))
}

function readMessage(failure: WordedFailure): string {
  return failure.kind === 'malformed' ? failure.detail : failure.message
}

function compileRow(row: RefusalRow): Rule {
  const { cause, status, exceptStatus, isStatusEnough, codes = [], texts = [] } = row
  const vetoes = [...(row.vetoes ?? []), ...(row.vetoCodes ?? [])]
  const worded = codes.filter((code) => /\D/.test(code)).map((code) => code.replace(/\*$/, ''))
  return {
    cause,
    ...(status !== undefined && { status }),
    ...(exceptStatus !== undefined && { exceptStatus }),
    ...(isStatusEnough !== undefined && { isStatusEnough }),
    codes: codes.length === 0 ? undefined : new RegExp(`^(?:${codes.map(toCode).join('|')})$`, 'i'),
    patterns: [...worded, ...texts].map((text) => new RegExp(toSource(text), 'i')),
    veto: vetoes.length === 0 ? undefined : new RegExp(vetoes.map(toSource).join('|'), 'i'),
  }
}

function toCode(code: string): string {
  return code.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
}

/** The source of a pattern that takes linear time: no text begins with a number or white space. */
function toSource(text: string): string {
  return text
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^.\\n]{0,60}')
    .replaceAll(' ', '\\s+')
    .replaceAll('#', '\\d[\\d.,_]*')
}
