import type { Log } from './ports.ts'

/** What the processes share, on the server that `[shared]` names. */
export interface SharedState {
  /** True while the server can be reached and written to. */
  readonly isUp: boolean
  /**
   * Calls a function of the library on the server. It runs as a whole or not at all, and alone. Rejects
   * with a `SharedStateFault` within a second when the server cannot run it. The function may still run
   * later.
   */
  call(name: string, args: readonly string[]): Promise<readonly string[]>
  /**
   * Calls a function for accounts. The calls of one turn of the event loop run in their order, as one command.
   * Rejects as `call` does. After a connection was cut it waits for the next one, for at most 500 ms.
   */
  batch(call: BatchedCall): Promise<readonly unknown[]>
  /** Sends what `batch` would send at the end of this turn: the connection has it when this returns. */
  flush(): void
  /** Sends a message to every process with the same prefix, this one included. Never rejects. */
  publish(channel: string, message: string): Promise<void>
  /** Calls `receive` with each message. Messages that are sent while the server is away are lost. */
  subscribe(channel: string, receive: (message: string) => void): void
  /** Calls `listener` each time that the server can be used again, the first time included. */
  onUp(listener: () => void): void
  /** Frees the connections. Later calls reject. */
  close(): Promise<void>
}

/** A shared state as a configuration names it. Contains no credential. */
export interface SharedStateName {
  readonly prefix: string
  /** The host and the port. */
  readonly address: string
  /** The number of the database on the server. */
  readonly database: number
}

/** A call that runs with others. Arguments and reply can be written in JSON. */
export interface BatchedCall {
  readonly name: string
  /** Called when the call is sent. */
  readonly args: () => readonly unknown[]
  /** The call may wait for later ones, for at most 2 ms. */
  readonly canWait?: boolean
}

export interface SharedStateSettings {
  /** The address of the server, with its credential: `redis:` or `rediss:`. */
  readonly url: string
  /** Separates the keys of these processes from other uses of the server. */
  readonly prefix: string
  readonly log: Log
}

/**
 * Connects to the server. Resolves even when it cannot be reached, and then connects later. Rejects with
 * a `SharedStateFault` when it cannot be used: its version, credential, certificate or eviction policy.
 */
export type OpenSharedState = (settings: SharedStateSettings) => Promise<SharedState>

/** The server cannot be used. The message contains no credential and no value. */
export class SharedStateFault extends Error {
  override readonly name = 'SharedStateFault'
  /** The function may have run, or may run later, although its reply is lost. */
  readonly mayHaveRun: boolean
  /** The connection was cut while the call ran: another call waits for the next connection. */
  readonly isCut: boolean

  constructor(message: string, { mayHaveRun = false, isCut = false }: FaultFacts = {}) {
    super(message)
    this.mayHaveRun = mayHaveRun
    this.isCut = isCut
  }
}

type FaultFacts = Partial<Pick<SharedStateFault, 'mayHaveRun' | 'isCut'>>
