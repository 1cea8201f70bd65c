import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { errorFields } from '../../../src/core/error-fields.ts'
import type { Millis } from '../../../src/core/ids.ts'
import {
  type AccountRows,
  parseUsageRows,
  type Store,
  StoreFault,
  type StoreMethod,
  type StoreSettings,
  storeMethods,
} from '../../../src/store/index.ts'
import { sharedNow } from '../store/call-deadline.ts'
import { identifyProcess } from '../store/claim.ts'
import {
  isRemote,
  type ReportFields,
  type StoreCall,
  type StoreMessage,
  type ThreadMessage,
  type ThreadMethod,
  type ThreadSettings,
} from '../store/messages.ts'

export interface NodeStoreOptions {
  /**
   * How long a call may take, the wait for those before it included, while another process holds the
   * database or the server does not answer. 3 s for a file, 10 s for a server.
   */
  readonly timeout?: Millis
  /** How long a server keeps the database for a gateway that does not answer. 30 s. */
  readonly lease?: Millis
  /** The program of the thread. */
  readonly entry?: URL
}

/**
 * Opens a database in a thread of its own, since the driver holds up the thread it runs on: a file,
 * or a libSQL server at a `libsql:`, `https:` or `http:` address. An `OpenStore` with options.
 */
export async function openNodeStore(
  settings: StoreSettings,
  options: NodeStoreOptions = {},
): Promise<Store> {
  const thread = new StoreThread(settings, options)
  try {
    await thread.open()
  } catch (fault) {
    await thread.close()
    throw fault
  }
  return createStore(thread)
}

function createStore(thread: StoreThread): Store {
  const methods = storeMethods.map((method) => {
    return [method, (...args: unknown[]) => thread.call(method, ...args)]
  })
  return {
    // The store behind the thread has the same methods, with the same results.
    ...(Object.fromEntries(methods) as Pick<Store, StoreMethod>),
    async addUsage(batch) {
      await thread.call('addUsage', batch.text())
    },
    abandon: () => thread.abandon(),
    close: () => thread.close(),
  }
}

/** Threads that have not been ended. */
const threads = new Set<StoreThread>()

/**
 * Lets every database of the process give up, and waits a moment for the calls that run. False when
 * one still runs: then `process.exit` would wait for it, and abort the process if it fails.
 */
export async function abandonStores(): Promise<boolean> {
  const running = [...threads]
  for (const thread of running) thread.abandon()
  await Promise.all(running.map((thread) => thread.waitUntilIdle()))
  return running.every(({ isBusy }) => !isBusy)
}

/** How long `abandonStores` and a `close` after `abandon` wait for a call that runs. */
const maxIdleWaitMs: Millis = 250

interface Waiting {
  readonly call: StoreCall
  readonly resolve: (value: unknown) => void
  readonly reject: (fault: StoreFault) => void
}

/** A thread that ends so many times in a row without an answer is left alone for a while. */
const maxCrashes = 3
/** How long, in milliseconds. */
const crashPauseMs = 5_000

/** Hands the thread one call at a time, so that a crash costs the call it happens in and no more. */
class StoreThread {
  readonly #settings: ThreadSettings
  readonly #timeout: Millis
  readonly #report: (message: string, fields: ReportFields) => void
  readonly #entry: URL
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #worker: Worker | undefined
  #crashes = 0
  #lastCrash = 0
  #isOpen = false
  #isAbandoned = false
  #closing: Promise<void> | undefined
  /** Resolved when no call runs any more. */
  readonly #idleListeners: (() => void)[] = []

  constructor(settings: StoreSettings, options: NodeStoreOptions) {
    const { path, token, claim, report = () => {} } = settings
    const { timeout = isRemote(path) ? 10_000 : 3_000, lease = 30_000, entry = ownEntry } = options
    // Later threads take the place of the first one under the same name.
    this.#settings = { path, token, claim: claim && { mode: claim, ...identifyProcess() }, lease }
    this.#timeout = timeout
    this.#report = report
    this.#entry = entry
    threads.add(this)
  }

  get isBusy(): boolean {
    return this.#current !== undefined
  }

  async open(): Promise<void> {
    await this.call('open')
    this.#isOpen = true
  }

  call(method: ThreadMethod, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#closing || this.#isAbandoned) return Promise.reject(createClosedFault())
    return this.#enqueue(method, args)
  }

  abandon(): void {
    this.#isAbandoned = true
    this.#post('abandon')
    for (const waiting of this.#waiting.splice(0)) {
      // Without a close the thread would be ended in the middle of a call.
      if (waiting.call.method === 'close') this.#waiting.push(waiting)
      else waiting.reject(createClosedFault())
    }
  }

  /** Resolves when no call runs any more, but after 250 ms in any case. */
  waitUntilIdle(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isBusy) return resolve()
      setTimeout(resolve, maxIdleWaitMs).unref()
      this.#idleListeners.push(resolve)
    })
  }

  /** Waits for the calls before it, unless they were abandoned, and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    // A thread that has crashed has nothing left to close.
    const isStarted = this.#worker !== undefined || this.isBusy
    const ended = isStarted ? this.#enqueue('close', []).catch(() => {}) : undefined
    await (this.#isAbandoned ? this.waitUntilIdle() : ended)
    if (this.isBusy) return
    await this.#worker?.terminate()
    threads.delete(this)
  }

  #enqueue(method: ThreadMethod, args: readonly unknown[]): Promise<unknown> {
    const call = this.#createCall(method, args)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (!this.#current) this.#next()
    })
  }

  #createCall(method: ThreadMethod, args: readonly unknown[]): StoreCall {
    return { method, args, deadline: sharedNow() + this.#timeout }
  }

  #post(message: ThreadMessage): void {
    this.#worker?.postMessage(message)
  }

  #next(): void {
    this.#current = this.#waiting.shift()
    if (!this.#current) {
      this.#worker?.unref()
      for (const resolve of this.#idleListeners.splice(0)) resolve()
      return
    }
    if (!this.#worker && this.#isPausing()) return this.#giveUp()
    this.#worker ??= this.#start()
    // A call is waited for; in between the thread holds nobody up.
    this.#worker.ref()
    this.#post(this.#current.call)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#settings })
    worker.on('message', (message: StoreMessage) => {
      if (message.kind === 'report') this.#report(message.message, message.fields)
      else void this.#answer(message)
    })
    // The exit follows.
    worker.on('error', (error) => {
      this.#report('the thread of the database has failed', errorFields(error))
    })
    worker.on('exit', () => {
      this.#worker = undefined
      if (!this.#current) return
      this.#crashes++
      this.#lastCrash = performance.now()
      this.#current.reject(new StoreFault('the thread of the database ended during the call'))
      if (this.#isOpen) this.#reopen()
      this.#next()
    })
    return worker
  }

  async #answer(message: Exclude<StoreMessage, { kind: 'report' }>): Promise<void> {
    const current = this.#current
    // That a new thread has opened the database says nothing of what the one before has crashed on.
    if (current?.call.method !== 'open') this.#crashes = 0
    // The next call is under way while the answer of this one is unpacked.
    this.#next()
    if (message.kind === 'fault') current?.reject(new StoreFault(message.message, message.code))
    else current?.resolve(await unpackResult(message))
  }

  /** The next thread takes its place as the first one did, before anything else. */
  #reopen(): void {
    const call = this.#createCall('open', [])
    const reject = ({ message }: StoreFault) => this.#report(message, {})
    this.#waiting.unshift({ call, resolve() {}, reject })
  }

  #isPausing(): boolean {
    return this.#crashes >= maxCrashes && performance.now() - this.#lastCrash < crashPauseMs
  }

  #giveUp(): void {
    const given = this.#current ? [this.#current, ...this.#waiting.splice(0)] : []
    this.#current = undefined
    for (const { reject } of given) {
      reject(new StoreFault('the thread of the database ends whenever it is started'))
    }
  }
}

function createClosedFault(): StoreFault {
  return new StoreFault('the database has been closed')
}

type Value = Extract<StoreMessage, { kind: 'value' | 'usage' | 'accounts' }>

async function unpackResult(message: Value): Promise<unknown> {
  switch (message.kind) {
    case 'value':
      return message.value
    case 'usage':
      return unpackPieces(message.pieces, parseUsageRows)
    case 'accounts': {
      const { keys, groups } = message.pieces
      const accounts: AccountRows = {
        keys: await unpackPieces(keys, deserialize),
        groups: await unpackPieces(groups, deserialize),
      }
      return accounts
    }
    default:
      return message satisfies never
  }
}

/** Unpacks a list piece by piece, and lets other work pass in between. */
async function unpackPieces<Piece, Row>(
  pieces: readonly Piece[],
  unpack: (piece: Piece) => readonly Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  for (const piece of pieces) {
    if (rows.length > 0) await new Promise((resolve) => setImmediate(resolve))
    rows.push(...unpack(piece))
  }
  return rows
}

/** The thread's program: bundled next to the host's, or as it stands in the source. */
const ownEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../store/from-source.mjs' : './store-worker.js',
  import.meta.url,
)
