import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { RoomLimit } from '../core/room.ts'
import { countByLink, toLinkKey } from './link-queues.ts'
import { Room, type Ticket } from './room.ts'
import type { LinkQueue, Place, RoomReading, Rooms, Visitor } from './rooms.ts'

export interface RoomsOptions {
  readonly clock: Clock
  /** The part of a limit that this process has; all of it by default. */
  readonly share?: (limit: number) => number
}

/**
 * The places of this process. A reload keeps them. After each change all that may go have gone, so that a request which
 * finds a place free overtakes no other.
 */
export class RoomsInProcess implements Rooms {
  readonly areShared = false
  readonly #clock: Clock
  readonly #share: (limit: number) => number
  /** By the name of the limit. */
  readonly #rooms = new Map<string, Room>()
  /** In the order of their arrival. */
  readonly #tickets = new Set<Ticket>()

  constructor({ clock, share = (limit) => limit }: RoomsOptions) {
    this.#clock = clock
    this.#share = share
  }

  take(link: Model): Place | undefined {
    const rooms = this.#findRooms(link)
    return rooms.every(({ free }) => free > 0) ? this.#occupy(rooms) : undefined
  }

  takeMore(link: Model, count: number): readonly Place[] {
    const rooms = this.#findRooms(link)
    const free = Math.min(count, ...rooms.map((room) => room.free))
    return Array.from({ length: free }, () => this.#occupy(rooms))
  }

  /** Takes a place that another process has given, whatever is free here. */
  occupy(link: Model): Place {
    return this.#occupy(this.#findRooms(link))
  }

  wait({ links, priority, account, onPlace, onEnd }: Visitor): () => void {
    const tickets = new Set<Ticket>()
    const leave = () => {
      for (const ticket of tickets) this.#drop(ticket)
      tickets.clear()
    }
    for (const link of links) {
      const place = this.take(link)
      if (place) {
        leave()
        onPlace(link, place)
        return () => {}
      }
      const ticket = this.#enqueue({
        link,
        priority,
        account,
        onTurn: ({ rooms }) => {
          leave()
          onPlace(link, this.#occupy(rooms))
        },
        onTimeout: (over) => {
          tickets.delete(over)
          if (tickets.size === 0) onEnd()
        },
      })
      if (ticket) tickets.add(ticket)
    }
    if (tickets.size === 0) onEnd()
    return leave
  }

  read(limits: readonly RoomLimit[]): readonly RoomReading[] {
    return limits.flatMap(({ name }) => {
      const { limit, taken, waiting } = this.#rooms.get(name) ?? noRoom
      return limit ? { ...limit, running: taken, waiting } : []
    })
  }

  listQueues(): Iterable<LinkQueue> {
    return countByLink(Array.from(this.#tickets, ({ link }) => link))
  }

  /**
   * Applies the limits of a configuration. Those that wait keep their turns and their time; those whose link has more
   * room now, or no limit any longer, go at once.
   */
  configure(models: Iterable<Model>): void {
    const links = new Map<string, Model>()
    const limits = new Map<string, RoomLimit>()
    for (const link of models) {
      links.set(toLinkKey(link), link)
      for (const limit of link.room ?? []) limits.set(limit.name, this.#toShare(limit))
    }
    const tickets = [...this.#tickets]
    for (const ticket of tickets) this.#leaveQueue(ticket)
    for (const [name, room] of this.#rooms) {
      room.limit = limits.get(name)
      room.owner = undefined
      if (!room.limit && room.taken === 0) this.#rooms.delete(name)
    }
    for (const [name, limit] of limits) {
      if (!this.#rooms.has(name)) this.#rooms.set(name, new Room(limit))
    }
    for (const link of links.values()) {
      const [first, second] = this.#findRooms(link)
      if (first && second) second.owner = first
    }
    for (const ticket of tickets) {
      // One whose model is gone has no limit either.
      this.#joinQueue(ticket, this.#findRooms(links.get(toLinkKey(ticket.link)) ?? ticket.link))
    }
    for (const room of this.#rooms.values()) this.#dispatch(room)
    // Those that have no limit any longer are in no queue.
    for (const ticket of tickets) if (ticket.rooms.length === 0) this.#callUp(ticket)
  }

  #toShare(limit: RoomLimit): RoomLimit {
    const maxParallel = this.#share(limit.maxParallel)
    const queueMax = limit.queueMax === 0 ? 0 : this.#share(limit.queueMax)
    return { ...limit, maxParallel, queueMax }
  }

  /** A limit that a reload has removed does not count. */
  #findRooms(link: Model): readonly Room[] {
    return (link.room ?? []).flatMap(({ name }) => this.#rooms.get(name) ?? [])
  }

  #occupy(rooms: readonly Room[]): Place {
    for (const room of rooms) room.taken++
    let isTaken = true
    return {
      release: () => {
        if (!isTaken) return
        isTaken = false
        for (const room of rooms) room.taken--
        for (const room of rooms) {
          this.#dispatch(room)
          // A reload may have moved those that wait for the model.
          if (room.owner) this.#dispatch(room.owner)
        }
      },
    }
  }

  #enqueue(
    wanted: Pick<Ticket, 'link' | 'priority' | 'account' | 'onTurn' | 'onTimeout'>,
  ): Ticket | undefined {
    const rooms = this.#findRooms(wanted.link)
    const full = rooms.filter(({ free }) => free === 0)
    if (!full.every(({ hasQueue }) => hasQueue)) return undefined
    const ticket: Ticket = { ...wanted, rooms: [], counted: [], timer: undefined }
    const times = full.map(({ limit }) => limit?.queueTime ?? 0)
    ticket.timer = this.#clock.schedule(Math.min(...times), () => {
      this.#drop(ticket)
      ticket.onTimeout(ticket)
    })
    this.#tickets.add(ticket)
    this.#joinQueue(ticket, rooms)
    return ticket
  }

  #joinQueue(ticket: Ticket, rooms: readonly Room[]): void {
    ticket.rooms = rooms
    ticket.counted = rooms.filter(({ free }) => free === 0)
    for (const room of ticket.counted) room.waiting++
    rooms[0]?.queue.add(ticket)
  }

  #leaveQueue(ticket: Ticket): void {
    ticket.rooms[0]?.queue.remove(ticket)
    for (const room of ticket.counted) room.waiting--
    ticket.counted = []
  }

  #drop(ticket: Ticket): void {
    if (!this.#tickets.delete(ticket)) return
    ticket.timer?.cancel()
    this.#leaveQueue(ticket)
  }

  #callUp(ticket: Ticket): void {
    if (!this.#tickets.has(ticket)) return
    this.#drop(ticket)
    ticket.onTurn(ticket)
  }

  /** Calls up those that wait, as long as there is a place for one. */
  #dispatch({ queue, free }: Room): void {
    if (free === 0) return
    const mayGo = ({ rooms }: Ticket) => rooms.every((room) => room.free > 0)
    for (;;) {
      const ticket = queue.take(mayGo)
      if (!ticket) return
      this.#callUp(ticket)
    }
  }
}

const noRoom: Pick<Room, 'limit' | 'taken' | 'waiting'> = Object.freeze({
  limit: undefined,
  taken: 0,
  waiting: 0,
})
