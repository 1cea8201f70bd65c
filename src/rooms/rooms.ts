import type { Model } from '../core/provider.ts'
import type { Priority, RoomLimit } from '../core/room.ts'

/** The permission for one call at once to a link. */
export interface Place {
  /** Gives the place back. Only the first call counts. */
  release(): void
}

/** A request that waits for a place. */
export interface Visitor {
  /** The links that have no room, in the order of the chain. */
  readonly links: readonly Model[]
  readonly priority: Priority
  /** Those of one account wait behind each other: the group, else the key; empty without auth. */
  readonly account: string
  /** Called at most once, with the first place that becomes free. */
  onPlace(link: Model, place: Place): void
  /** Called at most once, in place of `onPlace`, when no queue has a place or all waits are over. */
  onEnd(): void
}

/** What a limit has taken now. */
export interface RoomReading extends RoomLimit {
  /** Calls at once. */
  readonly running: number
  readonly waiting: number
}

/** The requests that wait for a link. */
export interface LinkQueue {
  readonly provider: string
  readonly model: string
  readonly waiting: number
}

/**
 * The places at upstreams that limit their calls at once. A link without a limit (`room`) has no place to take, and
 * comes to none of these functions.
 */
export interface Rooms {
  /** Takes a place at a link; undefined when it has no room. Without a wait unless other processes have a say. */
  take(link: Model): Place | undefined | Promise<Place | undefined>
  /** Takes up to `count` further places for the parts of a request that has one. */
  takeMore(link: Model, count: number): readonly Place[] | Promise<readonly Place[]>
  /** Waits in the queue of each link. Returns a function that leaves all of them. */
  wait(visitor: Visitor): () => void
  /** True when the limits hold over several processes, which then read the same. */
  readonly areShared: boolean
  /** What these limits have taken now. */
  read(limits: readonly RoomLimit[]): readonly RoomReading[] | Promise<readonly RoomReading[]>
  /** The queues of this process that are not empty. */
  listQueues(): Iterable<LinkQueue>
}
