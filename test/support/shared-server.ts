import { type BatchedCall, type SharedState, SharedStateFault } from '../../src/index.ts'

/** A function of the server: gets arguments, returns a reply. It runs as a whole, and alone. */
export type ServerFunction = (...args: readonly string[]) => readonly string[]

/** A server in memory for several gateways of a test, which share it under one prefix. */
export class SharedServer {
  /** The functions by their name; calls of others are faults. */
  readonly functions = new Map<string, ServerFunction>()
  /** The names of the calls so far. */
  readonly calls: string[] = []
  /** While true, messages are lost. */
  losesMessages = false
  readonly #members = new Set<Member>()
  #isUp = true
  #gate: Promise<void> = Promise.resolve()

  /** The port of one process. */
  readonly open = async (): Promise<SharedState> => {
    const member = new Member(this, () => this.#members.delete(member))
    this.#members.add(member)
    return member
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Leaves calls without a reply until the returned function is called. */
  hold(): () => void {
    let release = () => {}
    this.#gate = new Promise((resolve) => {
      release = resolve
    })
    return () => release()
  }

  leave(): void {
    this.#isUp = false
  }

  comeBack(): void {
    this.#isUp = true
    for (const member of this.#members) member.announceUp()
  }

  async run(name: string, args: readonly string[]): Promise<readonly string[]> {
    await turn()
    await this.#gate
    const found = this.functions.get(name)
    if (!this.#isUp || !found) throw new SharedStateFault('the server is away')
    this.calls.push(name)
    return found(...args)
  }

  async send(channel: string, message: string): Promise<void> {
    await turn()
    if (!this.#isUp || this.losesMessages) return
    for (const member of this.#members) member.receive(channel, message)
  }
}

class Member implements SharedState {
  readonly #server: SharedServer
  readonly #leave: () => void
  readonly #receivers: [channel: string, receive: (message: string) => void][] = []
  readonly #listeners: (() => void)[] = []

  constructor(server: SharedServer, leave: () => void) {
    this.#server = server
    this.#leave = leave
  }

  get isUp(): boolean {
    return this.#server.isUp
  }

  call(name: string, args: readonly string[]): Promise<readonly string[]> {
    return this.#server.run(name, args)
  }

  /** The server has no functions for accounts, unless a test adds them. They get their arguments in JSON. */
  batch({ name, args }: BatchedCall): Promise<readonly unknown[]> {
    return this.#server.run(name, [JSON.stringify(args())])
  }

  flush(): void {}

  publish(channel: string, message: string): Promise<void> {
    return this.#server.send(channel, message)
  }

  subscribe(channel: string, receive: (message: string) => void): void {
    this.#receivers.push([channel, receive])
  }

  onUp(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async close(): Promise<void> {
    this.#leave()
  }

  receive(channel: string, message: string): void {
    for (const [own, receive] of this.#receivers) if (own === channel) receive(message)
  }

  announceUp(): void {
    for (const listener of this.#listeners) listener()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
