import * as z from 'zod'
import type { SharedStateName } from '../core/shared-state.ts'

/** The shared state of the gateways that hold a database together, as their claim keeps it. */
export interface HeldState extends SharedStateName {
  /** Random, chosen by the gateway that made the claim. Gateways that join it learn the id from it. */
  readonly id: string
}

/** How a gateway knows that the shared state of a claim is its own. */
export interface OwnState {
  readonly name: SharedStateName
  /** The ids of claims whose gateways were met on the server of this one, under its prefix. */
  readonly met: readonly string[]
}

/**
 * Whether a claim is one of gateways that share the state of this one. Equal names are enough. Another name may
 * lead to the same server; only a gateway of the claim that was met there proves that.
 */
export function isOwnState({ id, ...held }: HeldState, { name, met }: OwnState): boolean {
  const isSameName =
    held.prefix === name.prefix && held.address === name.address && held.database === name.database
  return isSameName || met.includes(id)
}

/** Equal states are equal texts. */
export function writeHeldState({ id, prefix, address, database }: HeldState): string {
  return JSON.stringify({ id, prefix, address, database })
}

const heldState = z.object({
  id: z.string(),
  prefix: z.string(),
  address: z.string(),
  database: z.int(),
})

/** Returns undefined for the text of a release that wrote something else. */
export function readHeldState(text: string): HeldState | undefined {
  try {
    return heldState.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** For messages. */
export function describeState({ prefix, address, database }: SharedStateName): string {
  return `prefix "${prefix}" on ${address}, database ${database}`
}
