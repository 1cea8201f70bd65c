import type { AccountEvent } from '../core/account-event.ts'
import { type DeliveryPolicy, Sender, type SenderPorts } from './sender.ts'

/** The current sender, and earlier ones that still deliver the events that they accepted. */
export class SenderGroup {
  readonly #ports: SenderPorts
  #sender: Sender | undefined
  #retired: readonly Sender[] = []

  constructor(ports: SenderPorts) {
    this.#ports = ports
  }

  /** Opens a sender, or changes the policy for events that are not yet being delivered. */
  use(capacity: number, policy: DeliveryPolicy): void {
    if (this.#sender && this.#sender.capacity !== capacity) {
      this.#retired = this.#senders.filter((sender) => !sender.isIdle)
      this.#sender = undefined
    }
    this.#sender ??= new Sender(capacity, policy, this.#ports)
    for (const sender of this.#senders) sender.use(policy)
  }

  /** Accepts an event. Returns at once and never throws. A closed group ignores it. */
  accept(event: AccountEvent): void {
    this.#sender?.accept(event)
  }

  /** Ends at once and drops events that wait or are being delivered. */
  close(): void {
    for (const sender of this.#senders) sender.close()
    this.#sender = undefined
    this.#retired = []
  }

  get #senders(): readonly Sender[] {
    return this.#sender ? [...this.#retired, this.#sender] : this.#retired
  }
}
