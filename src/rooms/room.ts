import type { Timer } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { RoomLimit } from '../core/room.ts'
import { FairQueue, type Queued } from './fair-queue.ts'

/** The places of one limit, and those that wait for them. */
export class Room {
  /** Undefined while the configuration has no such limit: calls from before are still counted. */
  limit: RoomLimit | undefined
  /** The room of the provider, of a model that has a limit too: there those wait that are on their way here. */
  owner: Room | undefined
  taken = 0
  /** The requests that count for `queue_max`. */
  waiting = 0
  /** Those that wait here: for a place of this limit, or of another one of their link. */
  readonly queue = new FairQueue<Ticket>()

  constructor(limit: RoomLimit) {
    this.limit = limit
  }

  get free(): number {
    return this.limit ? Math.max(0, this.limit.maxParallel - this.taken) : Number.POSITIVE_INFINITY
  }

  /** True when another request may wait. */
  get hasQueue(): boolean {
    const { limit } = this
    return limit !== undefined && limit.queueTime > 0 && this.waiting < limit.queueMax
  }
}

/** The wait of one request for one link. */
export interface Ticket extends Queued {
  readonly link: Model
  /** All of which must have a place: the first one has the queue. */
  rooms: readonly Room[]
  /** Those in which it counts for `queue_max`: they had no place when it came. */
  counted: readonly Room[]
  timer: Timer | undefined
  /** Called with the place, once the ticket has left the queue. */
  readonly onTurn: (ticket: Ticket) => void
  /** Called when it has waited for as long as it may. */
  readonly onTimeout: (ticket: Ticket) => void
}
