import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Millis } from '../../../src/core/ids.ts'

/** The messages of one side: notices, and calls that the other side answers. */
interface Side {
  readonly notices: object
  readonly calls: object
}

type Question<Call> = Call extends { readonly question: infer Value } ? Value : never
type Answer<Call> = Call extends { readonly answer: infer Value } ? Value : never
type Name<Messages> = keyof Messages & string

/** The process at the other end: a child, or the parent as `process` reaches it. */
export type Peer = Pick<ChildProcess, 'connected'> & {
  readonly send?: ChildProcess['send'] | undefined
  on(event: 'message', listener: (message: unknown, handle: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

type Packet =
  | { readonly kind: 'notice'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly value: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number }

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

type NoticeHandler = (value: unknown, socket: Socket | undefined) => void
type CallHandler = (value: unknown) => unknown

/** One end of the connection between the primary process and a worker. */
export class Channel<Sent extends Side, Received extends Side> {
  readonly #peer: Peer
  readonly #waiting = new Map<number, Waiting>()
  readonly #noticeHandlers = new Map<string, NoticeHandler>()
  readonly #callHandlers = new Map<string, CallHandler>()
  #lastId = 0

  constructor(peer: Peer) {
    this.#peer = peer
    // Both ends are this class, of the same version.
    peer.on('message', (message, handle) => this.#receive(message as Packet, handle))
    peer.on('disconnect', () => this.close())
  }

  get isOpen(): boolean {
    return this.#peer.connected
  }

  /** Sends a message without an answer. `done` is called once, with an error if the message is lost. */
  notify<Notice extends Name<Sent['notices']>>(
    name: Notice,
    value: Sent['notices'][Notice],
    done: (error?: Error | null) => void = () => {},
  ): void {
    this.#send({ kind: 'notice', name, value }, done)
  }

  /** Like `notify`, with a socket that both processes then have. */
  hand<Notice extends Name<Sent['notices']>>(
    name: Notice,
    value: Sent['notices'][Notice],
    socket: Socket,
  ): void {
    const packet: Packet = { kind: 'notice', name, value }
    this.#peer.send?.(packet, socket, { keepOpen: true }, () => {})
  }

  /** Resolves to the answer. Rejects when the other side fails, ends, or takes longer than `within`. */
  call<Call extends Name<Sent['calls']>>(
    name: Call,
    value: Question<Sent['calls'][Call]>,
    within?: Millis,
  ): Promise<Answer<Sent['calls'][Call]>> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer)
        this.#waiting.delete(id)
      }
      const fail = (error: Error) => {
        settle()
        reject(error)
      }
      const timer =
        within === undefined
          ? undefined
          : setTimeout(() => fail(new Error('the other process does not answer')), within)
      this.#waiting.set(id, {
        resolve(answer) {
          settle()
          // The handler at the other end has this type.
          resolve(answer as Answer<Sent['calls'][Call]>)
        },
        reject: fail,
      })
      this.#send({ kind: 'call', id, name, value }, (error) => {
        if (error) fail(error)
      })
    })
  }

  onNotice<Notice extends Name<Received['notices']>>(
    name: Notice,
    handle: (value: Received['notices'][Notice], socket: Socket | undefined) => void,
  ): void {
    // The other end sends only values of this type by this name.
    this.#noticeHandlers.set(name, handle as NoticeHandler)
  }

  onCall<Call extends Name<Received['calls']>>(
    name: Call,
    handle: (
      question: Question<Received['calls'][Call]>,
    ) => Answer<Received['calls'][Call]> | Promise<Answer<Received['calls'][Call]>>,
  ): void {
    this.#callHandlers.set(name, handle as CallHandler)
  }

  /** Fails the calls that wait for an answer. Call it when the other process has ended. */
  close(): void {
    const waiting = [...this.#waiting.values()]
    for (const { reject } of waiting) reject(new Error('the other process has ended'))
  }

  #send(packet: Packet, done: (error?: Error | null) => void): void {
    if (this.#peer.connected && this.#peer.send) this.#peer.send(packet, done)
    else done(new Error('the other process has ended'))
  }

  #receive(packet: Packet, handle: unknown): void {
    switch (packet.kind) {
      case 'notice':
        this.#noticeHandlers.get(packet.name)?.(
          packet.value,
          handle instanceof Socket ? handle : undefined,
        )
        return
      case 'call':
        return void this.#answer(packet)
      case 'answer':
        return this.#waiting.get(packet.id)?.resolve(packet.value)
      case 'failure':
        return this.#waiting.get(packet.id)?.reject(new Error('the other process has failed'))
      default:
        return packet satisfies never
    }
  }

  async #answer({ id, name, value }: Extract<Packet, { kind: 'call' }>): Promise<void> {
    let packet: Packet
    try {
      packet = { kind: 'answer', id, value: await this.#callHandlers.get(name)?.(value) }
    } catch {
      // The side that failed has logged why.
      packet = { kind: 'failure', id }
    }
    this.#send(packet, () => {})
  }
}
