import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Holder } from '../../../src/store/database.ts'

/** The claim on a database, which one gateway at a time can hold. */
export interface Claim {
  /** Takes the claim. Resolves to a description of its holder when another process has it. */
  take(): Promise<string | undefined>
  /** Releases the claim, if this process holds it. */
  release(): Promise<void>
}

/** Returns the identity of this process as other processes see it. */
export function identifyProcess(): Holder {
  const since = new Date().toISOString()
  return {
    holder: randomUUID(),
    process: `process ${process.pid} on ${hostname()}, since ${since}`,
  }
}
