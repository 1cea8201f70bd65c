import type { AccountEvent } from '../core/account-event.ts'
import { errorFields } from '../core/error-fields.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Log, UpstreamPort } from '../core/ports.ts'
import type { WebhookSeries } from '../metrics/index.ts'
import { backoff, type RetryPolicy } from '../resilience/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { deliver, type Recipient } from './delivery.ts'
import { createMessage, type MessageOptions, type WebhookMessage } from './message.ts'
import type { SigningMode } from './signing-key.ts'

export interface SenderPorts {
  readonly clock: Clock
  readonly log: Log
  readonly upstream: UpstreamPort
  /** Returns a random number of at least 0 and below 1. */
  readonly random: () => number
  readonly series: WebhookSeries
}

/** How an event is delivered. Each event keeps the policy that was in force when its turn came. */
export interface DeliveryPolicy extends Recipient, Pick<MessageOptions, 'format'> {
  readonly retry: RetryPolicy
  readonly signing: SigningMode
}

/**
 * Delivers events one at a time, in the order of their arrival. At most `capacity` events wait for
 * their turn; further ones are dropped.
 */
export class Sender {
  readonly capacity: number
  #policy: DeliveryPolicy
  readonly #ports: SenderPorts
  readonly #scope: CancelScope
  #waiting: Waiting[] = []
  /** The index of the next event in `#waiting`; those before it are done. */
  #next = 0
  #isBusy = false
  #isFull = false

  constructor(capacity: number, policy: DeliveryPolicy, ports: SenderPorts) {
    this.capacity = capacity
    this.#policy = policy
    this.#ports = ports
    this.#scope = new CancelScope(ports.clock)
  }

  /** Whether all accepted events are delivered or given up. */
  get isIdle(): boolean {
    return !this.#isBusy
  }

  /** Replaces the policy for events that are not yet being delivered. */
  use(policy: DeliveryPolicy): void {
    this.#policy = policy
  }

  /** Accepts an event. Returns at once and never throws. */
  accept(event: AccountEvent): void {
    if (this.#scope.ended) return
    if (this.#length >= this.capacity) return this.#drop()
    this.#waiting.push({ event, since: this.#ports.clock.elapsed() })
    if (!this.#isBusy) void this.#run()
  }

  /** Ends at once and drops events that wait or are being delivered. */
  close(): void {
    if (this.#scope.ended) return
    this.#ports.series.dropped.inc({}, this.#length + (this.#isBusy ? 1 : 0))
    this.#waiting = []
    this.#next = 0
    this.#scope.end({ kind: 'shutdown' })
  }

  get #length(): number {
    return this.#waiting.length - this.#next
  }

  /** Logs one line each time that the queue becomes full. */
  #drop(): void {
    this.#ports.series.dropped.inc({})
    if (this.#isFull) return
    this.#isFull = true
    this.#ports.log.write('warn', 'the webhook queue is full: events are dropped', {
      capacity: this.capacity,
    })
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    for (let next = this.#take(); next; next = this.#take()) await this.#handle(next)
    this.#isBusy = false
    this.#isFull = false
  }

  #take(): Waiting | undefined {
    const next = this.#waiting[this.#next]
    if (!next) return undefined
    this.#next += 1
    // Only when half of the array is done: shifting it for every event is slow when many wait.
    if (this.#next * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
    return next
  }

  async #handle({ event, since }: Waiting): Promise<void> {
    const { series, clock } = this.#ports
    const failure = await this.#deliver(event).catch(errorFields)
    // `close` has counted this event as dropped.
    if (this.#scope.ended) return
    if (failure) return this.#giveUp(event, failure)
    series.sent.inc({})
    series.delivery.observe({}, (clock.elapsed() - since) / 1000)
  }

  /** Resolves to the log fields of a failed delivery, or to undefined. */
  async #deliver(event: AccountEvent): Promise<LogFields | undefined> {
    const policy = this.#policy
    const { format, signing } = policy
    const secret = signing.kind === 'signed' ? signing.secret : undefined
    const message = await createMessage(event, { format, secret })
    const reason =
      signing.kind === 'locked'
        ? 'the stored signing key cannot be decrypted'
        : await this.#attempts(message, policy)
    return reason === undefined ? undefined : { event_id: message.id, reason }
  }

  /** Resolves to the reason why the last attempt failed, or to undefined when one succeeded. */
  async #attempts(message: WebhookMessage, policy: DeliveryPolicy): Promise<string | undefined> {
    const { upstream: send, random } = this.#ports
    let problem: string | undefined
    for (let failures = 0; failures < policy.retry.maxAttempts; failures++) {
      if (failures > 0) await this.#scope.sleep(backoff(policy.retry, failures, random))
      if (this.#scope.ended) break
      problem = await deliver(message, policy, { send, scope: this.#scope })
      if (problem === undefined) break
    }
    return problem
  }

  #giveUp({ type, subjectId }: AccountEvent, fields: LogFields): void {
    const { series, log } = this.#ports
    series.dead.inc({})
    log.write('warn', 'a webhook event could not be delivered', {
      type,
      subject_id: subjectId,
      ...fields,
    })
  }
}

type LogFields = Readonly<Record<string, unknown>>

interface Waiting {
  readonly event: AccountEvent
  readonly since: Millis
}
