import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { CommandFailure } from '../failures/command-failure.ts'
import { Channel } from './channel.ts'
import type { FromPrimary, FromWorker, StartedWorker, WorkerStart } from './messages.ts'

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A worker, as the primary process sees it. */
export class WorkerProcess {
  readonly number: number
  readonly channel: Channel<FromPrimary, FromWorker>
  /** Resolves when it can take connections; rejects with a `CommandFailure`. */
  readonly started: Promise<StartedWorker>
  /** Resolves when it has ended and its last message has arrived. */
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcess
  readonly #forkedAt = performance.now()

  constructor(start: WorkerStart) {
    const { number, env } = start
    this.number = number
    this.#child = fork(entry, {
      env,
      // Unlike JSON, it keeps big integers and binary data.
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.channel = new Channel(this.#child)
    this.ended = waitForEnd(this.#child).finally(() => this.channel.close())
    this.started = this.#waitForStart()
    this.channel.notify('start', start)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Milliseconds since its start. */
  get age(): number {
    return performance.now() - this.#forkedAt
  }

  /** Ends it after its running requests. */
  stop(): void {
    this.channel.notify('stop', undefined)
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #waitForStart(): Promise<StartedWorker> {
    return new Promise((resolve, reject) => {
      this.channel.onNotice('started', resolve)
      this.channel.onNotice('failed', ({ exitCode, lines }) =>
        reject(new CommandFailure(exitCode, ...lines)),
      )
      void this.ended.then(({ code, signal }) => {
        const reason = signal ?? `exit code ${code}`
        reject(new CommandFailure(1, `worker ${this.number} ended during its start: ${reason}`))
      })
    })
  }
}

async function waitForEnd(child: ChildProcess): Promise<ProcessEnd> {
  const end = await new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.on('error', () => {
      // The system could not create the process; any other error is of a message that is lost.
      if (child.pid === undefined) resolve({ code: 1, signal: null })
    })
  })
  // Messages that were sent before the end may arrive after it. Node does not emit `disconnect` while a
  // socket waits to be taken.
  while (child.connected) await wait(1)
  return end
}

/** The program of a worker, in the build beside this file. */
const entry = new URL('./worker.js', import.meta.url)
