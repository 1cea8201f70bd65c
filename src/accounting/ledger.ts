import type { Admission } from '../core/admission.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { AccountEntry } from './account-entry.ts'
import { admit, hasEstimatedLimit, previewAdmission } from './admission.ts'
import { hasUsedRequests } from './admission-checks.ts'
import type { AdmissionRequest, HitRequest, PreviewRequest } from './admission-request.ts'
import { admitHit } from './hit-admission.ts'

/** Decides which requests are admitted, and counts what they hold. */
export interface Ledger {
  /** The wall clock by which minutes and terms end. */
  now(): Millis
  /** As `Principal.needsEstimate`. */
  needsEstimate(request: HitRequest): boolean
  /** Admits a request, or throws as `Principal.admit` does. */
  admit(request: AdmissionRequest): Admission | Promise<Admission>
  /** Admits a hit, or throws as `Principal.admitHit` does. */
  admitHit(request: HitRequest): Admission | Promise<Admission>
  /** Throws what `admit` would throw now. */
  preview(request: PreviewRequest): void | Promise<void>
  /** Brings accounts up to date, where other processes change them. Never rejects. */
  refresh(accounts: readonly AccountEntry[]): void | Promise<void>
}

/** Counts in the accounts themselves, which are in the memory of this process. */
export function createMemoryLedger(clock: Clock): Ledger {
  return Object.freeze<Ledger>({
    now: () => clock.now(),
    // A request without a place in this minute is refused first.
    needsEstimate: (request) => hasEstimatedLimit(request) && !hasUsedRequests(request),
    admit,
    admitHit,
    preview: previewAdmission,
    refresh() {},
  })
}
