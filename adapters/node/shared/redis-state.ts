import { Command, Redis, type RedisOptions } from 'ioredis'
import {
  type BatchedCall,
  type Log,
  type Millis,
  type SharedState,
  SharedStateFault,
  type SharedStateSettings,
} from '../../../src/index.ts'
import { Batches } from './batches.ts'
import { createLibrary, type Library, readFunctions } from './library.ts'
import {
  type Address,
  findLastingProblem,
  findMove,
  findRefusal,
  findServerProblem,
  isFunctionMissing,
  nameFailure,
} from './server-check.ts'

/** A call, and a probe, is given up after this time. */
const timeout: Millis = 900
/** The pause between two probes. */
const probePause: Millis = 250
/** After so many probes one proves that the server can be written to. */
const probesPerWrite = 4
/** After a connection was cut, calls wait so long for the next one. */
const maxReturnTime: Millis = 500
/** A read-only server may be a former primary: its address is looked up again after so many probes. */
const probesPerLookup = 8

/** Connects to a server. `functions`: the text of the library, by default that of this release. */
export async function openRedisState(
  settings: SharedStateSettings,
  functions: string = readFunctions(),
): Promise<SharedState> {
  const state = new RedisState(settings, createLibrary(functions))
  try {
    await state.open()
    return state
  } catch (fault) {
    await state.close()
    throw fault
  }
}

/**
 * `away`: not connected, or it does not answer. `refusing`: it answers, but refuses to write; functions
 * that free memory may still run. `up`: it has answered the last probe.
 */
type Condition = 'away' | 'refusing' | 'up'

class RedisState implements SharedState {
  readonly #redis: Redis
  readonly #library: Library
  readonly #log: Log
  /** The address of the settings. */
  readonly #address: Address
  /** The root of all keys. */
  readonly #root: string
  readonly #batches = new Batches({
    run: (name, args) => this.#invoke(() => this.#runAtOnce(name, args)),
    isRefused: () => this.#condition === 'refusing',
  })
  readonly #listeners: (() => void)[] = []
  #subscriber: Redis | undefined
  #condition: Condition = 'away'
  /** Ends `open`, with the problem if there is one. */
  #settle: ((problem: string | undefined) => void) | undefined
  /** The last reason for not being up that was logged. */
  #reported: string | undefined
  /** Resolves when a connection that was cut is back, or after a while. */
  #returning: Promise<void> | undefined
  #endReturn = () => {}
  #probes = 0
  #timer: NodeJS.Timeout | undefined
  /** The connection is being closed because another node of the cluster has the state. */
  #isMoving = false
  #isClosed = false

  constructor({ url, prefix, log }: SharedStateSettings, library: Library) {
    this.#library = library
    this.#log = log
    this.#root = `{${prefix}}:`
    this.#redis = new Redis(url, { ...connection, ...commands })
    const { host, port } = this.#redis.options
    this.#address = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) }
    this.#redis.on('error', (error: Error) => this.#lose(error))
    this.#redis.on('close', () => this.#end())
    this.#redis.on('ready', () => void this.#prepare())
  }

  /** Resolves at the first answer of the server, or when it cannot be reached. */
  async open(): Promise<void> {
    const opened = new Promise<string | undefined>((resolve) => {
      this.#settle = resolve
    })
    this.#redis.connect().catch(() => {})
    this.#scheduleProbe()
    const problem = await opened
    if (problem !== undefined) throw new SharedStateFault(problem)
  }

  get isUp(): boolean {
    return this.#condition === 'up'
  }

  async call(name: string, args: readonly string[]): Promise<readonly string[]> {
    return this.#invoke(() => this.#run(name, args))
  }

  async batch(call: BatchedCall): Promise<readonly unknown[]> {
    if (this.#returning) await this.#returning
    this.#requireServer()
    return this.#batches.add(call)
  }

  flush(): void {
    this.#batches.flush()
  }

  async publish(channel: string, message: string): Promise<void> {
    if (this.#condition === 'away') return
    await this.#redis.publish(this.#root + channel, message).catch(() => {})
  }

  subscribe(channel: string, receive: (message: string) => void): void {
    this.#subscriber ??= this.#connectSubscriber()
    const own = this.#root + channel
    this.#subscriber.on('message', (name: string, message: string) => {
      if (name === own) receive(message)
    })
    this.#subscriber.subscribe(own).catch(() => {})
  }

  onUp(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#condition = 'away'
    clearTimeout(this.#timer)
    this.#endReturn()
    this.#redis.disconnect()
    this.#subscriber?.disconnect()
  }

  #requireServer(): void {
    if (this.#condition === 'away') throw new SharedStateFault('the server is away')
  }

  /** Runs a command. Throws a fault when the server cannot run it. */
  async #invoke<Reply>(run: () => Promise<Reply>): Promise<Reply> {
    this.#requireServer()
    try {
      return await this.#runLoaded(run)
    } catch (error) {
      throw this.#toFault(error)
    }
  }

  /** Runs a command, and once more when the server lacks the function. */
  #runLoaded<Reply>(run: () => Promise<Reply>): Promise<Reply> {
    return run().catch(async (error: unknown) => {
      if (!isFunctionMissing(error)) throw error
      await this.#loadFunctions()
      return run()
    })
  }

  async #run(name: string, args: readonly string[]): Promise<readonly string[]> {
    // Every function that is called in this way returns a list of texts.
    return (await this.#redis.fcall(this.#library.nameOf(name), 1, this.#root, ...args)) as string[]
  }

  /** Runs a function for accounts. Unlike other commands it does not wait for those of the same turn. */
  async #runAtOnce(name: string, args: string): Promise<string> {
    const all = [this.#library.nameOf(name), 1, this.#root, args]
    const command = new Command('fcall', all, { replyEncoding: 'utf8' })
    // Each of them returns one text.
    return (await this.#redis.sendCommand(command)) as string
  }

  async #loadFunctions(): Promise<void> {
    await this.#redis.function('LOAD', this.#library.code).catch((error: Error) => {
      // Another process with this release was faster.
      if (!/already exists/.test(error.message)) throw error
    })
  }

  /** Checks a server that has just been reached, or that could not be used before. */
  async #prepare(): Promise<void> {
    try {
      const problem = findServerProblem(await this.#redis.info())
      if (problem !== undefined) return this.#giveUp(problem)
      await this.#runLoaded(() => this.#run('beat', []))
      this.#enter()
    } catch (error) {
      // A server of another kind may lack a command.
      if (!(this.#toFault(error) instanceof SharedStateFault))
        this.#giveUp((error as Error).message)
    }
  }

  async #probe(): Promise<void> {
    if (this.#redis.status !== 'ready') return
    this.#probes++
    if (this.#condition !== 'up') return this.#prepare()
    const isWrite = this.#probes % probesPerWrite === 0
    const answer: Promise<unknown> = isWrite ? this.#run('beat', []) : this.#redis.ping()
    await answer.catch((error: unknown) => this.#toFault(error))
  }

  #scheduleProbe(): void {
    this.#timer = setTimeout(async () => {
      await this.#probe()
      if (!this.#isClosed) this.#scheduleProbe()
    }, probePause).unref()
  }

  #enter(): void {
    if (this.#isClosed || this.#condition === 'up') return
    this.#condition = 'up'
    this.#endReturn()
    if (this.#reported !== undefined) this.#log.write('info', 'the shared state is available again')
    this.#reported = undefined
    this.#settle?.(undefined)
    for (const listener of this.#listeners) listener()
  }

  /** Notes an error of a call. Returns what its caller gets. */
  #toFault(error: unknown): unknown {
    const refusal = findRefusal(error)
    const node = findMove(error)
    if (node) {
      this.#move(node)
      return new SharedStateFault('another node of the cluster has the state')
    }
    if (refusal !== undefined) {
      const lasting = findLastingProblem(error)
      if (lasting !== undefined) this.#giveUp(lasting)
      else this.#refuse(refusal)
      return new SharedStateFault(`the server refuses (${refusal})`)
    }
    // Any other answer of the server is a mistake in a function or in its arguments.
    if ((error as Error).name === 'ReplyError') return error
    const isFirst = this.#condition !== 'away'
    const isSilent = this.#redis.status === 'ready' && !isUnwritable(error)
    if (isSilent) this.#leave(error)
    else this.#lose(error)
    // The socket may be dead without a sign of it.
    if (isFirst && isSilent) this.#redis.disconnect(true)
    const isCut = this.#returning !== undefined
    return new SharedStateFault(`the server is away (${nameFailure(error)})`, {
      mayHaveRun: true,
      isCut,
    })
  }

  /** The connection was cut. Managed servers do so at each maintenance, and take the next one at once. */
  #awaitReturn(): void {
    if (this.#returning || this.#isClosed) return
    this.#returning = new Promise((resolve) => {
      const timer = setTimeout(() => this.#endReturn(), maxReturnTime)
      this.#endReturn = () => {
        clearTimeout(timer)
        this.#returning = undefined
        resolve()
      }
    })
  }

  #refuse(reason: string): void {
    this.#condition = 'refusing'
    this.#endReturn()
    this.#report(reason)
    this.#settle?.(undefined)
    if (reason === 'READONLY' && this.#probes % probesPerLookup === 0) this.#redis.disconnect(true)
  }

  /** Connects to the node of a cluster that has the state. All keys are in one slot. */
  #move(node: Address): void {
    this.#condition = 'away'
    if (this.#isMoving) return
    this.#isMoving = true
    this.#redis.disconnect(true)
    Object.assign(this.#redis.options, node)
  }

  #end(): void {
    if (this.#isMoving) {
      this.#isMoving = false
      return
    }
    // Any node of a cluster knows which one has the state now.
    Object.assign(this.#redis.options, this.#address)
    this.#lose(new SharedStateFault('the connection is closed'))
  }

  #lose(error: unknown): void {
    if (this.#condition !== 'away') this.#awaitReturn()
    this.#leave(error)
  }

  #leave(error: unknown): void {
    const lasting = findLastingProblem(error)
    if (lasting !== undefined) return this.#giveUp(lasting)
    this.#condition = 'away'
    if (error instanceof SharedStateFault) this.#report('closed')
    else this.#report(nameFailure(error))
    this.#settle?.(undefined)
  }

  /** The server cannot be used as it is. At the start this is an error; later the probes go on. */
  #giveUp(problem: string): void {
    this.#condition = 'away'
    this.#endReturn()
    this.#settle?.(problem)
    this.#report(problem)
  }

  #report(reason: string): void {
    // A reason may follow from another one: only the first of an outage is logged.
    if (this.#isClosed || this.#reported !== undefined) return
    this.#reported = reason
    this.#log.write('warn', 'the shared state is not available', { reason })
  }

  /** Its commands wait for the connection, and it subscribes again by itself. */
  #connectSubscriber(): Redis {
    const subscriber = this.#redis.duplicate({
      ...connection,
      ...this.#address,
      lazyConnect: false,
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
    })
    subscriber.on('error', () => {})
    return subscriber
  }
}

/** The server has closed the connection, which the client has not noted yet. */
function isUnwritable(error: unknown): boolean {
  return (error as Error).message.startsWith("Stream isn't writeable")
}

const connection = {
  connectionName: 'model-gateway',
  protocol: 2,
  lazyConnect: true,
  enableReadyCheck: false,
  connectTimeout: timeout,
  // The first time soon: the server may only have cut the connection.
  retryStrategy: (attempt: number) => (attempt === 1 ? 20 : Math.min(50 * attempt, 500)),
} satisfies RedisOptions

/** Nothing waits for a connection, nothing is sent twice, and the calls of one turn are one write. */
const commands = {
  enableAutoPipelining: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: timeout,
} satisfies RedisOptions
