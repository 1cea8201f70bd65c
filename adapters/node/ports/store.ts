import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { AuditEntry } from '../../../src/core/audit.ts'
import { errorFields } from '../../../src/core/error-fields.ts'
import type { Millis } from '../../../src/core/ids.ts'
import {
  type AccountRows,
  type AuditedStore,
  auditedMethods,
  parseUsageRows,
  type Store,
  StoreFault,
  type StoreMethod,
  type StoreReport,
  type StoreSettings,
  storeMethods,
} from '../../../src/store/index.ts'
import type { DatabaseCopy } from '../store/backup.ts'
import { sharedNow } from '../store/call-deadline.ts'
import { identifyProcess } from '../store/claim.ts'
import type { OpenedDatabase } from '../store/claimed-database.ts'
import { FileJournal } from '../store/file-journal.ts'
import { requireContent, toFilePath } from '../store/file-path.ts'
import type { LeftFiles } from '../store/journal-place.ts'
import {
  isServerAddress,
  type StoreCall,
  type StoreMessage,
  type ThreadMessage,
  type ThreadMethod,
  type ThreadSettings,
} from '../store/messages.ts'
import { type OpenThread, openThreads } from '../store/open-threads.ts'

export interface NodeStoreOptions {
  /**
   * The time limit of a call, including the wait for earlier calls, while another process locks the
   * database or the server does not respond. In milliseconds; default 3,000 for a file and 10,000
   * for a server.
   */
  readonly timeout?: Millis
  /** How long the lease on a server remains without renewal. In milliseconds; default 30,000. */
  readonly lease?: Millis
  /** The entry file of the thread. */
  readonly entry?: URL
}

/**
 * Opens a database in its own thread, because the driver blocks the thread that it runs on. The
 * database is a file, or a libSQL server at a `libsql:`, `https:` or `http:` address.
 */
export async function openNodeStore(
  settings: StoreSettings,
  options: NodeStoreOptions = {},
): Promise<Store> {
  if (settings.onMissing === 'reject') requireFile(settings.path)
  const thread = new StoreThread(settings, options)
  try {
    const { journal: place, claimId } = await thread.open()
    const findLeft = (places: readonly string[]) => thread.listLeft(places)
    const { report } = settings
    const journal = place && new FileJournal({ ...place, findLeft, report })
    return createStore(thread, { journal, claimId })
  } catch (fault) {
    await thread.close()
    throw fault
  }
}

/** Copies a database in a thread, as `copyDatabase` does. Rejects with a `StoreFault`. */
export async function copyNodeDatabase(
  settings: StoreSettings,
  file: string,
): Promise<DatabaseCopy> {
  requireFile(settings.path)
  const thread = new StoreThread(settings, {})
  try {
    // The executor returns the result of `copyDatabase`.
    return (await thread.call('copy', file)) as DatabaseCopy
  } finally {
    await thread.close()
  }
}

/** Says that there is no file before the thread starts, which looks into the file. */
function requireFile(path: string): void {
  if (!isServerAddress(path)) requireContent(toFilePath(path))
}

function createStore(
  thread: StoreThread,
  { journal, claimId }: Pick<Store, 'journal' | 'claimId'>,
): Store {
  const methods = storeMethods.map((method) => {
    return [method, (...args: unknown[]) => thread.call(method, ...args)]
  })
  const audited = (entry: AuditEntry) => {
    const writes = auditedMethods.map((method) => {
      return [method, (...args: unknown[]) => thread.accept({ method, args, audit: entry })]
    })
    // As below.
    return Object.fromEntries(writes) as AuditedStore
  }
  return {
    // The store behind the thread has the same methods, with the same results.
    ...(Object.fromEntries(methods) as Pick<Store, StoreMethod>),
    journal,
    claimId,
    // With the results of the same methods, too.
    addUsage: (batch) => thread.call('addUsage', batch.text()) as ReturnType<Store['addUsage']>,
    addLostUsage: (batch, lookup) =>
      thread.call('addLostUsage', batch.text(), lookup) as ReturnType<Store['addLostUsage']>,
    audited,
    abandon: () => thread.abandon(),
    close: () => thread.close(),
  }
}

/** The maximum time that `abandonStores`, and `close` after `abandon`, wait for a running call. */
const maxIdleWaitMs: Millis = 250

interface Waiting {
  readonly call: StoreCall
  readonly resolve: (value: unknown) => void
  readonly reject: (fault: StoreFault) => void
}

type CallInput = Omit<StoreCall, 'deadline'>

/** After so many crashes in a row without a result, the thread is not restarted for a while. */
const maxCrashes = 3
const crashPauseMs = 5_000

/** Sends the thread one call at a time, so that a crash fails only the call that was running. */
class StoreThread implements OpenThread {
  #settings: ThreadSettings
  readonly #timeout: Millis
  readonly #report: StoreReport
  readonly #entry: URL
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #worker: Worker | undefined
  #crashes = 0
  #lastCrash = 0
  #isOpen = false
  #isAbandoned = false
  #closing: Promise<void> | undefined
  /** Called when no call is running. */
  readonly #idleListeners: (() => void)[] = []

  constructor(settings: StoreSettings, options: NodeStoreOptions) {
    const { path, token, journalFolder, claim, onMissing, report = () => {} } = settings
    const {
      timeout = isServerAddress(path) ? 10_000 : 3_000,
      lease = 30_000,
      entry = ownEntry,
    } = options
    // Threads after a crash use the same identity for the claim.
    const holder = claim && { ...claim, ...identifyProcess() }
    this.#settings = { path, token, journalFolder, claim: holder, onMissing, lease }
    this.#timeout = timeout
    this.#report = report
    this.#entry = entry
    openThreads.add(this)
  }

  get isBusy(): boolean {
    return this.#current !== undefined
  }

  async open(): Promise<OpenedDatabase> {
    // As `ClaimedDatabase.open` returns it.
    const opened = (await this.call('open')) as OpenedDatabase
    this.#isOpen = true
    const { claim } = this.#settings
    // Another thread after a crash joins the same claim.
    if (claim && opened.claimId !== undefined) {
      this.#settings = { ...this.#settings, claim: { ...claim, met: [opened.claimId] } }
    }
    return opened
  }

  async listLeft(places: readonly string[]): Promise<LeftFiles> {
    // As `ClaimedDatabase.listLeft` returns them.
    return (await this.call('listLeft', ...places)) as LeftFiles
  }

  call(method: ThreadMethod, ...args: readonly unknown[]): Promise<unknown> {
    return this.accept({ method, args })
  }

  accept(call: CallInput): Promise<unknown> {
    if (this.#closing || this.#isAbandoned) return Promise.reject(createClosedFault())
    return this.#enqueue(call)
  }

  abandon(): void {
    this.#isAbandoned = true
    this.#post('abandon')
    for (const waiting of this.#waiting.splice(0)) {
      // Without its close, the thread would be terminated in the middle of a call.
      if (waiting.call.method === 'close') this.#waiting.push(waiting)
      else waiting.reject(createClosedFault())
    }
  }

  /** Resolves when no call is running, but after 250 ms at the latest. */
  waitUntilIdle(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isBusy) return resolve()
      setTimeout(resolve, maxIdleWaitMs).unref()
      this.#idleListeners.push(resolve)
    })
  }

  /** Waits for earlier calls, unless they were abandoned, and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    // A crashed thread has nothing to close.
    const isStarted = this.#worker !== undefined || this.isBusy
    const ended = isStarted
      ? this.#enqueue({ method: 'close', args: [] }).catch(() => {})
      : undefined
    await (this.#isAbandoned ? this.waitUntilIdle() : ended)
    if (this.isBusy) return
    await this.#worker?.terminate()
    openThreads.delete(this)
  }

  #enqueue(input: CallInput): Promise<unknown> {
    const call = this.#createCall(input)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (!this.#current) this.#next()
    })
  }

  #createCall(input: CallInput): StoreCall {
    return { ...input, deadline: sharedNow() + this.#timeout }
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
    // Only a running call keeps the process alive.
    this.#worker.ref()
    this.#post(this.#current.call)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#settings })
    worker.on('message', (message: StoreMessage) => {
      if (message.kind === 'report') this.#report(...message.report)
      else void this.#answer(message)
    })
    // The `exit` event follows.
    worker.on('error', (error) => {
      this.#report('the database thread failed', errorFields(error))
    })
    worker.on('exit', () => {
      this.#worker = undefined
      if (!this.#current) return
      this.#crashes++
      this.#lastCrash = performance.now()
      this.#current.reject(new StoreFault('the database thread ended during the call'))
      if (this.#isOpen) this.#reopen()
      this.#next()
    })
    return worker
  }

  async #answer(message: Exclude<StoreMessage, { kind: 'report' }>): Promise<void> {
    const current = this.#current
    // An `open` on a new thread does not prove that the call which crashed the old one works.
    if (current?.call.method !== 'open') this.#crashes = 0
    // The next call runs while the result of this one is unpacked.
    this.#next()
    if (message.kind === 'fault') current?.reject(new StoreFault(message.message, message.code))
    else current?.resolve(await unpackResult(message))
  }

  /** Lets the next thread open the database, with its claim, before any other call. */
  #reopen(): void {
    const call = this.#createCall({ method: 'open', args: [] })
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
      reject(new StoreFault('the database thread crashes on every start'))
    }
  }
}

function createClosedFault(): StoreFault {
  return new StoreFault('the database is closed')
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

/** Unpacks a list piece by piece and lets other work run in between. */
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

/** The entry file of the thread: bundled beside this file, or in the source. */
const ownEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../store/from-source.mjs' : './store-worker.js',
  import.meta.url,
)
