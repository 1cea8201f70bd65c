import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Holder } from '../../../src/store/database.ts'

/** The place of the one gateway that may work on a database. */
export interface Claim {
  /** Takes the place. Resolves to the process that has it, for people, where it is taken. */
  take(): Promise<string | undefined>
  /** Gives the place back, if it was taken. */
  release(): Promise<void>
}

/** This process, as others see it. */
export function identifyProcess(): Holder {
  const since = new Date().toISOString()
  return {
    holder: randomUUID(),
    process: `process ${process.pid} on ${hostname()}, since ${since}`,
  }
}
