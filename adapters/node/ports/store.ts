import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { outline } from '../../../src/core/outline.ts'
import {
  type AccountRows,
  type Store,
  StoreFault,
  type StoreSettings,
  usageRows,
} from '../../../src/store/index.ts'
import type {
  ReportFields,
  StoreCall,
  StoreMessage,
  StoreMethod,
  ThreadSettings,
} from '../store/messages.ts'

export interface NodeStoreOptions {
  /** Milliseconds that a call may go on trying while another process holds the database. */
  readonly patience?: number
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
    await thread.call('open')
  } catch (fault) {
    await thread.close()
    throw fault
  }
  return storeOf(thread)
}

function storeOf(thread: StoreThread): Store {
  const pass =
    <Method extends StoreMethod & keyof Store>(method: Method) =>
    (...args: Parameters<Store[Method]>) =>
      // The thread answers as the store behind it does.
      thread.call(method, ...args) as ReturnType<Store[Method]>
  return {
    accounts: pass('accounts'),
    createKey: pass('createKey'),
    updateKey: pass('updateKey'),
    rotateKey: pass('rotateKey'),
    deleteKey: pass('deleteKey'),
    grantKey: pass('grantKey'),
    createGroup: pass('createGroup'),
    updateGroup: pass('updateGroup'),
    deleteGroup: pass('deleteGroup'),
    grantGroup: pass('grantGroup'),
    addSpend: pass('addSpend'),
    async addUsage(batch) {
      await thread.call('addUsage', batch.text())
    },
    purgeUsage: pass('purgeUsage'),
    sumUsage: pass('sumUsage'),
    listUsage: pass('listUsage'),
    sealed: pass('sealed'),
    putSealed: pass('putSealed'),
    deleteSealed: pass('deleteSealed'),
    webhookSettings: pass('webhookSettings'),
    putWebhookSettings: pass('putWebhookSettings'),
    close: () => thread.close(),
  }
}

interface Waiting {
  readonly call: StoreCall
  readonly resolve: (value: unknown) => void
  readonly reject: (fault: StoreFault) => void
}

/** A thread that ends so many times in a row without an answer is left alone for a while. */
const mostCrashes = 3
/** How long, in milliseconds. */
const crashPause = 5_000

/** Hands the thread one call at a time, so that a crash costs the call it happens in and no more. */
class StoreThread {
  readonly #settings: ThreadSettings
  readonly #report: (message: string, fields: ReportFields) => void
  readonly #entry: URL
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #worker: Worker | undefined
  #crashes = 0
  #lastCrash = 0
  #closing: Promise<void> | undefined

  constructor(settings: StoreSettings, options: NodeStoreOptions) {
    const { patience = 5_000, entry = ownEntry } = options
    this.#settings = { path: settings.path, token: settings.token, patience }
    this.#report = settings.report ?? (() => {})
    this.#entry = entry
  }

  call(method: StoreMethod, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#closing) return Promise.reject(new StoreFault('the database has been closed'))
    return this.#enqueue({ method, args })
  }

  /** Waits for the calls before it, and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    if (!this.#worker && this.#waiting.length === 0) return
    // A thread that has crashed has nothing left to close.
    await this.#enqueue({ method: 'close', args: [] }).catch(() => {})
    await this.#worker?.terminate()
  }

  #enqueue(call: StoreCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (!this.#current) this.#next()
    })
  }

  #next(): void {
    this.#current = this.#waiting.shift()
    if (!this.#current) {
      this.#worker?.unref()
      return
    }
    if (!this.#worker && this.#isPausing()) return this.#giveUp()
    this.#worker ??= this.#start()
    // A call is waited for; in between the thread holds nobody up.
    this.#worker.ref()
    this.#worker.postMessage(this.#current.call)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#settings })
    worker.on('message', (message: StoreMessage) => {
      if (message.kind === 'report') this.#report(message.message, message.fields)
      else void this.#answer(message)
    })
    // The exit follows.
    worker.on('error', (error) => {
      this.#report('the thread of the database has failed', outline(error))
    })
    worker.on('exit', () => {
      this.#worker = undefined
      if (!this.#current) return
      this.#crashes++
      this.#lastCrash = performance.now()
      this.#current.reject(new StoreFault('the thread of the database ended during the call'))
      this.#next()
    })
    return worker
  }

  async #answer(message: Exclude<StoreMessage, { kind: 'report' }>): Promise<void> {
    this.#crashes = 0
    const current = this.#current
    // The next call is under way while the answer of this one is unpacked.
    this.#next()
    if (message.kind === 'fault') current?.reject(new StoreFault(message.message))
    else current?.resolve(await unpacked(message))
  }

  #isPausing(): boolean {
    return this.#crashes >= mostCrashes && performance.now() - this.#lastCrash < crashPause
  }

  #giveUp(): void {
    const given = this.#current ? [this.#current, ...this.#waiting.splice(0)] : []
    this.#current = undefined
    for (const { reject } of given) {
      reject(new StoreFault('the thread of the database ends whenever it is started'))
    }
  }
}

type Value = Extract<StoreMessage, { kind: 'value' | 'usage' | 'accounts' }>

async function unpacked(message: Value): Promise<unknown> {
  switch (message.kind) {
    case 'value':
      return message.value
    case 'usage':
      return together(message.pieces, usageRows)
    case 'accounts': {
      const { keys, groups } = message.pieces
      const accounts: AccountRows = {
        keys: await together(keys, deserialize),
        groups: await together(groups, deserialize),
      }
      return accounts
    }
    default:
      return message satisfies never
  }
}

/** Unpacks a list piece by piece, and lets other work pass in between. */
async function together<Piece, Row>(
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
