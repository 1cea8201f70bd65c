import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { SharedStateName } from '../../../src/core/shared-state.ts'
import type { Holder, OwnState } from '../../../src/store/database.ts'
import type { ClaimSettings } from './messages.ts'

/** The claim on a database: of one gateway, or of several that share their state. */
export interface Claim {
  /**
   * Takes the claim. Resolves to another holder when there is one that does not share the state of this process,
   * else to the id of the claim.
   */
  take(): Promise<TakenClaim | OtherHolder>
  /** Releases the claim, if this process holds it. */
  release(): Promise<void>
}

export interface TakenClaim {
  readonly kind: 'taken'
  /** The same for all holders; undefined when this process shares nothing. */
  readonly id: string | undefined
}

/** Another process that holds the claim. */
export interface OtherHolder {
  readonly kind: 'other'
  /** A readable description. */
  readonly process: string
  /** The state that it shares, as the claim has it; null when it shares none. */
  readonly sharing: string | null
}

/** How a process shares its state, for a claim that others can join; undefined when it shares nothing. */
export function identifyState({ sharing, met = [] }: ClaimSettings): OwnState | undefined {
  return sharing && { name: { ...sharing, address: nameAddress(sharing) }, met }
}

/** A loopback address is another server on every machine. */
function nameAddress({ address }: SharedStateName): string {
  return isLoopback(address) ? `${address} of ${hostname()}` : address
}

function isLoopback(address: string): boolean {
  const host = address.replace(/:\d+$/, '')
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){0,3}|0\.0\.0\.0|\[(?:::1?|::ffff:127\..*)\])$/i.test(
    host,
  )
}

/** Returns the identity of this process as other processes see it. */
export function identifyProcess(): Holder {
  const since = new Date().toISOString()
  return {
    holder: randomUUID(),
    process: `process ${process.pid} on ${hostname()}, since ${since}`,
  }
}
