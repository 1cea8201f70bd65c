import type { Environment, Overview } from '../../../src/index.ts'
import type { CommandFailure } from '../failures/command-failure.ts'

/** What the primary process sends to a worker. */
export interface FromPrimary {
  readonly notices: {
    readonly start: WorkerStart
    /** A new connection, whose socket comes with it. */
    readonly connection: ConnectionId
    /** Ends the worker after its running requests. */
    readonly stop: undefined
  }
  readonly calls: {
    readonly ask: { readonly question: Asked; readonly answer: unknown }
    readonly reload: { readonly question: undefined; readonly answer: void }
    /** Like `reload`, but only when the file has changed. */
    readonly refresh: { readonly question: undefined; readonly answer: void }
  }
}

/** What a worker sends to the primary process. */
export interface FromWorker {
  readonly notices: {
    readonly started: StartedWorker
    readonly failed: Pick<CommandFailure, 'exitCode' | 'lines'>
    /** The worker has the connection, and the primary can forget its socket. */
    readonly taken: ConnectionId
    readonly closed: ConnectionId
    /** The worker takes no more connections. */
    readonly stopped: undefined
    /** Whole lines of the log. */
    readonly log: string
    /** The end of a turn that was asked for with `turn`. */
    readonly turnEnded: undefined
  }
  readonly calls: {
    /** Asks all workers, this one included; answered with their answers. */
    readonly ask: { readonly question: Asked; readonly answer: readonly unknown[] }
    /** Has all other workers apply a state, and those that start later. */
    readonly publish: { readonly question: Asked; readonly answer: void }
    /** Answered when no other worker makes a change. */
    readonly turn: { readonly question: undefined; readonly answer: void }
  }
}

/** A question of a topic, or its state. */
export interface Asked {
  readonly topic: string
  readonly question: unknown
}

export type ConnectionId = number

/** What a worker needs to start. */
export interface WorkerStart {
  readonly number: number
  readonly count: number
  /** The text of the configuration. */
  readonly config: string
  /** The configuration file; undefined for the demo. */
  readonly path: string | undefined
  readonly env: Environment
  readonly allowSecond: boolean | undefined
  /** True for the worker that logs what all of them find at their start. */
  readonly logsStart: boolean
  readonly log: {
    readonly colors: boolean
    /** How long a line may wait for others, in milliseconds. */
    readonly delay: number
  }
}

export interface StartedWorker {
  readonly overview: Overview
  /** The proxy variables in force for outgoing calls. */
  readonly proxies: Readonly<Record<string, string>> | undefined
}
