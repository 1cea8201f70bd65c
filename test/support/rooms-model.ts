/*
 * A plain model of the places at upstreams and the queues for them, to which the gateway is compared. It looks at
 * everything in each step, and knows nothing of how the gateway does it.
 */

export interface ModelLimit {
  readonly max: number
  readonly queue: number
  /** Milliseconds. */
  readonly time: number
}

/** By the name of the provider or the model. */
export type ModelLimits = Readonly<Record<string, ModelLimit>>

const priorities = ['high', 'normal', 'low'] as const
export type ModelPriority = (typeof priorities)[number]

export interface ModelAsk {
  readonly id: number
  readonly account: string
  readonly priority: ModelPriority
  /** The models in the order of the chain. */
  readonly chain: readonly string[]
}

/** One request in the model. */
interface Asked extends ModelAsk {
  readonly left: string[]
  /** The links that had no room. */
  full: string[]
  failures: number
  link: string | undefined
  status: number | undefined
}

/** A place in the queue of one link. */
interface Entry {
  readonly asked: Asked
  readonly link: string
  readonly until: number
  counted: string[]
}

export interface RoomsModelOptions {
  limits: ModelLimits
  /** The provider of each model. */
  readonly providers: Readonly<Record<string, string>>
}

export class RoomsModel {
  readonly #options: RoomsModelOptions
  readonly #asked: Asked[] = []
  #entries: Entry[] = []
  /** The accounts of a queue and a priority, in the order of their turns. */
  readonly #turns = new Map<string, string[]>()
  #now = 0

  constructor(options: RoomsModelOptions) {
    this.#options = options
  }

  /** What runs, as `id link`, sorted. */
  get running(): string[] {
    return this.#asked.flatMap(({ id, link }) => (link ? `${id} ${link}` : [])).sort()
  }

  /** The statuses of the requests that have ended, by their id. */
  get statuses(): Readonly<Record<number, number>> {
    const ended = this.#asked.filter(({ status }) => status !== undefined)
    return Object.fromEntries(ended.map(({ id, status }) => [id, status as number]))
  }

  get waiting(): readonly number[] {
    return [...new Set(this.#entries.map(({ asked }) => asked.id))]
  }

  start(ask: ModelAsk): void {
    const asked: Asked = {
      ...ask,
      left: [...ask.chain],
      full: [],
      failures: 0,
      link: undefined,
      status: undefined,
    }
    this.#asked.push(asked)
    this.#proceed(asked)
  }

  /** The running call of a request ends: `200`, a refusal of the request, or a fault of the provider. */
  answer(id: number, outcome: 200 | 400 | 'fault'): void {
    const asked = this.#find(id)
    const provider = this.#options.providers[asked.link ?? ''] as string
    asked.link = undefined
    // The place is free before the request goes on.
    if (outcome === 'fault') {
      asked.failures++
      this.#dispatch(provider)
      this.#proceed(asked)
      return
    }
    asked.status = outcome
    this.#dispatch(provider)
  }

  /** The client of a request leaves. */
  leave(id: number): void {
    const asked = this.#find(id)
    if (asked.status !== undefined) return
    const provider = asked.link && this.#options.providers[asked.link]
    asked.link = undefined
    asked.status = 499
    this.#forget(asked)
    if (provider) this.#dispatch(provider)
  }

  /** When the next wait is over; undefined when nothing waits. */
  get nextEnd(): number | undefined {
    const ends = this.#entries.map(({ until }) => until)
    return ends.length > 0 ? Math.min(...ends) : undefined
  }

  /** Goes on to a time, at which no wait of the past is over. */
  goTo(time: number): void {
    this.#now = time
    for (const entry of this.#entries.filter(({ until }) => until <= time)) {
      this.#drop(entry)
      if (!this.#entries.some(({ asked }) => asked === entry.asked)) this.#end(entry.asked)
    }
  }

  reload(limits: ModelLimits): void {
    this.#options.limits = limits
    this.#turns.clear()
    for (const entry of this.#entries) {
      entry.counted = this.#limitsOf(entry.link).filter((name) => this.#isFull(name))
      this.#takeTurn(entry)
    }
    for (const provider of new Set(Object.values(this.#options.providers))) this.#dispatch(provider)
  }

  #proceed(asked: Asked): void {
    for (let link = asked.left.shift(); link !== undefined; link = asked.left.shift()) {
      if (this.#isFree(link)) return this.#run(asked, link)
      asked.full.push(link)
    }
    for (const link of asked.full) {
      if (this.#isFree(link)) return this.#run(asked, link)
      const counted = this.#limitsOf(link).filter((name) => this.#isFull(name))
      const hasQueue = (name: string) => {
        const { queue, time } = this.#limit(name)
        return time > 0 && this.#entries.filter((one) => one.counted.includes(name)).length < queue
      }
      if (!counted.every(hasQueue)) continue
      const until = this.#now + Math.min(...counted.map((name) => this.#limit(name).time))
      const entry = { asked, link, until, counted }
      this.#entries.push(entry)
      this.#takeTurn(entry)
    }
    if (!this.#entries.some((entry) => entry.asked === asked)) this.#end(asked)
  }

  #run(asked: Asked, link: string): void {
    this.#forget(asked)
    asked.full = asked.full.filter((each) => each !== link)
    asked.link = link
  }

  /** No link has served, and none is left. */
  #end(asked: Asked): void {
    asked.status = asked.failures === 1 && asked.full.length === 0 ? 502 : 503
  }

  #forget(asked: Asked): void {
    for (const entry of this.#entries.filter((one) => one.asked === asked)) this.#drop(entry)
  }

  #drop(entry: Entry): void {
    this.#entries = this.#entries.filter((one) => one !== entry)
    const turns = this.#turnsOf(entry)
    const has = this.#entries.some((one) => this.#isSameTurn(one, entry))
    if (!has) turns.splice(turns.indexOf(entry.asked.account), 1)
  }

  #takeTurn(entry: Entry): void {
    const turns = this.#turnsOf(entry)
    if (!turns.includes(entry.asked.account)) turns.push(entry.asked.account)
  }

  #isSameTurn(a: Entry, b: Entry): boolean {
    return this.#turnsOf(a) === this.#turnsOf(b) && a.asked.account === b.asked.account
  }

  #turnsOf({ asked: { priority }, link }: Entry): string[] {
    const name = `${priority} ${this.#limitsOf(link)[0]}`
    let turns = this.#turns.get(name)
    if (!turns) this.#turns.set(name, (turns = []))
    return turns
  }

  /** Lets go all that may, at a provider where a place has become free. */
  #dispatch(provider: string): void {
    for (let next = this.#findNext(provider); next; next = this.#findNext(provider)) {
      const { asked, link } = next
      const turns = this.#turnsOf(next)
      this.#run(asked, link)
      // The turn of its account is over.
      const at = turns.indexOf(asked.account)
      if (at >= 0) turns.push(...turns.splice(at, 1))
    }
  }

  #findNext(provider: string): Entry | undefined {
    const { providers } = this.#options
    const mayGo = this.#entries.filter(
      ({ link }) => providers[link] === provider && this.#isFree(link),
    )
    for (const priority of priorities) {
      const ofPriority = mayGo.filter(({ asked }) => asked.priority === priority)
      for (const first of ofPriority) {
        for (const account of this.#turnsOf(first)) {
          const found = ofPriority.find(({ asked }) => asked.account === account)
          if (found) return found
        }
      }
    }
    return undefined
  }

  #isFree(link: string): boolean {
    return this.#limitsOf(link).every((name) => !this.#isFull(name))
  }

  #isFull(name: string): boolean {
    const { providers } = this.#options
    const running = this.#asked.filter(
      ({ link }) => link !== undefined && (link === name || providers[link] === name),
    )
    return running.length >= this.#limit(name).max
  }

  #limitsOf(link: string): string[] {
    const { limits, providers } = this.#options
    return [providers[link] as string, link].filter((name) => name in limits)
  }

  #limit(name: string): ModelLimit {
    return this.#options.limits[name] as ModelLimit
  }

  #find(id: number): Asked {
    return this.#asked.find((one) => one.id === id) as Asked
  }
}
