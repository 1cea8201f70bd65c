import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Holder } from '../../../src/store/database.ts'

/** The claim on a database: of one gateway, or of several that share their state. */
export interface Claim {
  /** Takes the claim. Resolves to another holder when there is one that does not share the state of this process. */
  take(): Promise<OtherHolder | undefined>
  /** Releases the claim, if this process holds it. */
  release(): Promise<void>
}

/** Another process that holds the claim. */
export interface OtherHolder {
  /** A readable description. */
  readonly process: string
  /** Names the state that it shares; null when it shares none. */
  readonly sharing: string | null
}

/** Returns the identity of this process as other processes see it. */
export function identifyProcess(): Holder {
  const since = new Date().toISOString()
  return {
    holder: randomUUID(),
    process: `process ${process.pid} on ${hostname()}, since ${since}`,
  }
}
