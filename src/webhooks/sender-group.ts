import type { AccountEvent } from '../core/account-event.ts'
import { type DeliveryPolicy, Sender, type SenderPorts } from './sender.ts'

/** The sender of the moment, and those before it that still deliver what they had accepted. */
export class SenderGroup {
  readonly #ports: SenderPorts
  #sender: Sender | undefined
  #retired: readonly Sender[] = []

  constructor(ports: SenderPorts) {
    this.#ports = ports
  }

  /** Opens the outbox, or changes what events are delivered with whose turn is yet to come. */
  use(capacity: number, policy: DeliveryPolicy): void {
    if (this.#sender && this.#sender.capacity !== capacity) {
      this.#retired = this.#senders.filter((sender) => !sender.isIdle)
      this.#sender = undefined
    }
    this.#sender ??= new Sender(capacity, policy, this.#ports)
    for (const sender of this.#senders) sender.use(policy)
  }

  /** Takes an event, at once and without ever failing. A closed outbox lets it pass. */
  accept(event: AccountEvent): void {
    this.#sender?.accept(event)
  }

  /** Ends at once: what waits or is under way is dropped. */
  close(): void {
    for (const sender of this.#senders) sender.close()
    this.#sender = undefined
    this.#retired = []
  }

  get #senders(): readonly Sender[] {
    return this.#sender ? [...this.#retired, this.#sender] : this.#retired
  }
}
