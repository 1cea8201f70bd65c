import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { type Priority, priorities, type RoomLimit } from '../core/room.ts'
import type { SharedState } from '../core/shared-state.ts'
import { countByLink, toLinkKey } from './link-queues.ts'
import { maxEntries, RoomServer } from './room-server.ts'
import type { LinkQueue, Place, RoomReading, Rooms, Visitor } from './rooms.ts'
import { RoomsInProcess } from './rooms-in-process.ts'

export interface SharedRoomsOptions {
  readonly shared: SharedState
  readonly clock: Clock
  /** The places of a process that has ended become free after this time. */
  readonly lease: Millis
  /**
   * While the server is away: `refuse` finds no room anywhere, and `local` lets each process make as many calls at once
   * as the limits say.
   */
  readonly onLoss: 'refuse' | 'local'
}

/** So often the server is asked what has become of those that wait: a message may be lost. */
const pollTime: Millis = 500

/** A place that this process has. */
interface HeldPlace {
  readonly names: readonly string[]
  /** Counts it in this process, for the time that the server is away. */
  readonly local: Place
}

/** A request that waits. */
interface Visit {
  readonly id: string
  readonly visitor: Visitor
  /** The links that it still waits for, by the number of their option. */
  readonly links: Map<number, Model>
  readonly timers: Map<number, Timer>
  /** Leaves the queues of this process, where the server is away. */
  leaveLocal: (() => void) | undefined
  isOver: boolean
}

/**
 * The places that all processes have in common. The server gives them, under leases that this process renews, and has the
 * one queue of those that wait; what it offers them is published.
 */
export class SharedRooms implements Rooms {
  readonly areShared = true
  readonly #options: SharedRoomsOptions
  readonly #server: RoomServer
  readonly #process = crypto.randomUUID()
  /** The places of this process alone. It decides while the server is away. */
  readonly #local: RoomsInProcess
  readonly #held = new Map<string, HeldPlace>()
  readonly #visits = new Map<string, Visit>()
  /** The links of the configuration: those of requests may be from before a reload. */
  #links: ReadonlyMap<string, Model> = new Map()
  /** Its limits, by their names. */
  #limits: ReadonlyMap<string, RoomLimit> = new Map()
  #lastId = 0
  #renewal: Timer | undefined
  #poll: Timer | undefined

  constructor(options: SharedRoomsOptions) {
    this.#options = options
    this.#server = new RoomServer({
      shared: options.shared,
      // The places of this process are written again.
      onLost: () => {
        if (this.#held.size > 0) void this.#renew()
      },
    })
    this.#local = new RoomsInProcess(options)
    options.shared.subscribe('rooms', (message) => {
      const [id = '', option] = message.split(' ')
      const visit = this.#visits.get(id)
      if (visit) void this.#confirm(visit, Number(option))
    })
    options.shared.onUp(() => this.#rejoin())
  }

  /** Applies the limits of a configuration, also to those that wait. */
  configure(models: Iterable<Model>): void {
    const links = [...models]
    this.#links = new Map(links.map((link) => [toLinkKey(link), link]))
    this.#limits = new Map(links.flatMap(({ room = [] }) => room.map((one) => [one.name, one])))
    this.#local.configure(links)
    for (const visit of this.#visits.values()) void this.#register(visit)
  }

  take(link: Model): Promise<Place | undefined> {
    return this.#take(link, 1).then(([place]) => place)
  }

  takeMore(link: Model, count: number): Promise<readonly Place[]> {
    return this.#take(link, count)
  }

  wait(visitor: Visitor): () => void {
    const visit: Visit = {
      id: this.#nextId(),
      visitor,
      links: new Map(visitor.links.map((link, at) => [at + 1, link])),
      timers: new Map(),
      leaveLocal: undefined,
      isOver: false,
    }
    this.#visits.set(visit.id, visit)
    this.#schedulePoll()
    void this.#register(visit)
    return () => {
      if (visit.isOver) return
      this.#end(visit)
      void this.#server.leave(visit.id, this.#namesOf(visit))
    }
  }

  async read(limits: readonly RoomLimit[]): Promise<readonly RoomReading[]> {
    const reply = await this.#server.call('room_read', () => limits.map(({ name }) => name))
    if (!reply) return this.#local.read(limits)
    return limits.map((limit, at) => {
      const [running, waiting] = reply[at] as readonly [number, number]
      return { ...limit, running, waiting }
    })
  }

  listQueues(): Iterable<LinkQueue> {
    return countByLink(
      Array.from(this.#visits.values()).flatMap(({ links }) => [...links.values()]),
    )
  }

  async #take(link: Model, count: number): Promise<readonly Place[]> {
    const limits = this.#limitsOf(link)
    if (limits.length === 0) return this.#local.takeMore(link, count)
    const ids = Array.from({ length: count }, () => this.#nextId())
    const names = limits.map(({ name }) => name)
    const reply = await this.#server.call(
      'room_take',
      () => [ids, limits.map(({ name, maxParallel }) => [name, maxParallel]), this.#lease],
      ids.map((id) => [id, names]),
    )
    if (reply) return ids.slice(0, Number(reply[0])).map((id) => this.#hold(id, link))
    return this.#options.onLoss === 'local' ? this.#takeAlone(link, count) : []
  }

  /** Takes places while the server is away. It learns of them when it is back. */
  #takeAlone(link: Model, count: number): readonly Place[] {
    const names = this.#namesAt(link)
    return this.#local
      .takeMore(link, count)
      .map((local) => this.#keep(this.#nextId(), { names, local }))
  }

  #hold(id: string, link: Model): Place {
    return this.#keep(id, { names: this.#namesAt(link), local: this.#local.occupy(link) })
  }

  #keep(id: string, held: HeldPlace): Place {
    this.#held.set(id, held)
    this.#scheduleRenewal()
    return {
      release: () => {
        if (!this.#held.delete(id)) return
        if (this.#held.size === 0) this.#stopRenewal()
        held.local.release()
        void this.#server.leave(id, held.names)
      },
    }
  }

  /** Asks the server for a place, or to let the request wait for one. */
  async #register(visit: Visit): Promise<void> {
    const { id, visitor } = visit
    const numbers = [...visit.links.keys()]
    const free = numbers.find((at) => this.#limitsOf(visit.links.get(at) as Model).length === 0)
    if (free !== undefined) {
      void this.#server.leave(id, this.#namesOf(visit))
      return this.#accept(visit, free, (link) => this.#local.occupy(link))
    }
    const options = this.#writeOptions(visit)
    const priority = toNumber(visitor.priority)
    const reply = await this.#server.call(
      'room_wait',
      () => [id, visitor.account, priority, this.#lease, options],
      [[id, this.#namesOf(visit)]],
    )
    // The request has left: the server is asked to forget it behind this call.
    if (visit.isOver) return
    if (!reply) return this.#waitAlone(visit)
    const [status, found] = reply
    if (status === 'taken') {
      return this.#accept(visit, Number(found), (link) => this.#hold(id, link))
    }
    const waits = status === 'waiting' ? (found as readonly (readonly [number, Millis])[]) : []
    const times = new Map(waits)
    for (const number of numbers) this.#setTimer(visit, number, times.get(number))
  }

  /** Lets the request wait for a link for a time; undefined where its queue has no place. */
  #setTimer(visit: Visit, number: number, time: Millis | undefined): void {
    if (visit.isOver) return
    if (time === undefined) return this.#giveUp(visit, number)
    if (visit.timers.has(number)) return
    const timer = this.#options.clock.schedule(time, () => {
      // The last one takes a place back, too, that the server has just offered.
      if (visit.links.size === 1) void this.#server.leave(visit.id, this.#namesOf(visit))
      else void this.#server.call('room_give_up', () => [visit.id, number])
      this.#giveUp(visit, number)
    })
    visit.timers.set(number, timer)
  }

  #giveUp(visit: Visit, number: number): void {
    visit.timers.get(number)?.cancel()
    visit.timers.delete(number)
    visit.links.delete(number)
    if (visit.links.size > 0) return
    this.#end(visit)
    visit.visitor.onEnd()
  }

  /** Waits while the server is away: for it to come back or, where the settings say so, in this process. */
  #waitAlone(visit: Visit): void {
    if (visit.leaveLocal) return
    const { visitor, links } = visit
    if (this.#options.onLoss === 'refuse') {
      for (const [number, link] of links) {
        const limits = this.#limitsOf(link)
        const hasQueue = limits.some(({ queueMax, queueTime }) => queueMax > 0 && queueTime > 0)
        const times = limits.map(({ queueTime }) => queueTime).filter((time) => time > 0)
        this.#setTimer(visit, number, hasQueue ? Math.min(...times) : undefined)
      }
      return
    }
    for (const timer of visit.timers.values()) timer.cancel()
    visit.timers.clear()
    visit.leaveLocal = () => {}
    const leaveLocal = this.#local.wait({
      ...visitor,
      links: [...links.values()],
      onPlace: (link, local) => {
        this.#end(visit)
        const names = this.#namesAt(link)
        visitor.onPlace(link, this.#keep(this.#nextId(), { names, local }))
      },
      onEnd: () => {
        this.#end(visit)
        visitor.onEnd()
      },
    })
    if (!visit.isOver) visit.leaveLocal = leaveLocal
  }

  /** Takes a place that the server has offered, unless that was too long ago. */
  async #confirm(visit: Visit, number: number): Promise<void> {
    const link = visit.links.get(number)
    if (!link || visit.isOver) return
    const rooms = this.#limitsOf(link).map(({ name, maxParallel }) => [name, maxParallel])
    const reply = await this.#server.call('room_confirm', () => [visit.id, rooms, this.#lease])
    if (visit.isOver || !reply) return
    if (reply[0] === 1) this.#accept(visit, number, () => this.#hold(visit.id, link))
    else await this.#register(visit)
  }

  #accept(visit: Visit, number: number, occupy: (link: Model) => Place): void {
    const link = visit.links.get(number)
    // It was given up while the server took it.
    if (!link) return void this.#server.leave(visit.id, this.#namesOf(visit))
    this.#end(visit)
    visit.visitor.onPlace(link, occupy(link))
  }

  #end(visit: Visit): void {
    visit.isOver = true
    this.#visits.delete(visit.id)
    if (this.#visits.size === 0) this.#stopPoll()
    for (const timer of visit.timers.values()) timer.cancel()
    visit.timers.clear()
    visit.leaveLocal?.()
  }

  /** The server can be used again: it learns what was freed, and who has places or waits. */
  #rejoin(): void {
    this.#server.freeStrays()
    void this.#renew()
    for (const visit of this.#visits.values()) {
      visit.leaveLocal?.()
      visit.leaveLocal = undefined
      void this.#register(visit)
    }
  }

  async #renew(): Promise<void> {
    const ids = [...this.#held.keys()]
    for (let at = 0; at < ids.length; at += maxEntries) {
      // When it is sent: a place that was given back meanwhile must not come into being again.
      const write = () =>
        ids.slice(at, at + maxEntries).flatMap((id) => {
          const held = this.#held.get(id)
          return held ? [[id, held.names.map((name) => [name])]] : []
        })
      await this.#server.call('room_renew', () => [this.#lease, write(), []])
    }
  }

  #askForVisits(): void {
    const tickets = Array.from(this.#visits.values()).filter(({ leaveLocal }) => !leaveLocal)
    for (let at = 0; at < tickets.length; at += maxEntries) {
      void this.#askFor(tickets.slice(at, at + maxEntries))
    }
  }

  async #askFor(tickets: readonly Visit[]): Promise<void> {
    const written = tickets.map((visit) => [visit.id, this.#writeOptions(visit)])
    const reply = await this.#server.call('room_renew', () => [this.#lease, [], written])
    if (!reply) {
      for (const visit of tickets) if (!visit.isOver) this.#waitAlone(visit)
      return
    }
    for (const [id, number] of reply as readonly (readonly [string, number])[]) {
      const visit = this.#visits.get(id)
      if (visit && number > 0) void this.#confirm(visit, number)
      // One that is being registered is not lost.
      else if (visit && visit.timers.size > 0) void this.#register(visit)
    }
  }

  get #lease(): Millis {
    return Math.ceil(this.#options.lease)
  }

  #nextId(): string {
    return `${this.#process}-${++this.#lastId}`
  }

  /** The limits that a link has now; empty when a reload has removed them. */
  #limitsOf(link: Model): RoomLimit[] {
    const { room = [] } = this.#links.get(toLinkKey(link)) ?? link
    return room.flatMap(({ name }) => this.#limits.get(name) ?? [])
  }

  #namesAt(link: Model): readonly string[] {
    return this.#limitsOf(link).map(({ name }) => name)
  }

  /** The links that a request waits for, each with its number and its limits. */
  #writeOptions({ links }: Visit): readonly unknown[] {
    return Array.from(links, ([number, link]) => [
      number,
      this.#limitsOf(link).map(({ name, maxParallel, queueMax, queueTime }) => [
        name,
        maxParallel,
        queueMax,
        queueTime,
      ]),
    ])
  }

  /** The rooms that a request may have a place of, also from before a reload. */
  #namesOf({ visitor: { links } }: Visit): readonly string[] {
    const before = links.flatMap(({ room = [] }) => room.map(({ name }) => name))
    return [...new Set([...before, ...links.flatMap((link) => this.#namesAt(link))])]
  }

  #scheduleRenewal(): void {
    this.#renewal ??= this.#options.clock.schedule(this.#options.lease / 4, () => {
      this.#renewal = undefined
      void this.#renew()
      if (this.#held.size > 0) this.#scheduleRenewal()
    })
  }

  #stopRenewal(): void {
    this.#renewal?.cancel()
    this.#renewal = undefined
  }

  #schedulePoll(): void {
    this.#poll ??= this.#options.clock.schedule(pollTime, () => {
      this.#poll = undefined
      this.#askForVisits()
      if (this.#visits.size > 0) this.#schedulePoll()
    })
  }

  #stopPoll(): void {
    this.#poll?.cancel()
    this.#poll = undefined
  }
}

/** From 1, the first to go. */
function toNumber(priority: Priority): number {
  return priorities.indexOf(priority) + 1
}
