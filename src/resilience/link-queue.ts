import type { Model } from '../core/provider.ts'
import type { UntranslatableError } from '../core/untranslatable-error.ts'
import type { LinkFailure } from './chain-error.ts'
import type { Resilience } from './retry-link.ts'

export type SkipReason = UntranslatableError | undefined

/** What the queue needs to know of a request. */
export interface QueuedRequest {
  /** Returns the links in the order in which to try them. Called once. */
  orderLinks(): readonly Model[]
  readonly resilience: Pick<Resilience, 'breakers'>
  /**
   * Takes a place at a link that limits its calls at once, until the request leaves the link. False when it has no
   * room.
   */
  enter(link: Model): boolean | Promise<boolean>
  /**
   * Waits for a place at one of these links, and enters it. Resolves to undefined when none has a place in time.
   * Rejects with the `GatewayError` for the client when the request ends meanwhile.
   */
  awaitRoom(links: readonly Model[]): Promise<Model | undefined>
  /** Called for each link that did not serve. */
  onLinkFailure(failure: LinkFailure): void
}

/**
 * The links of a chain that are still to be tried, in order: those that cannot express the request are skipped, and
 * those without room passed over until no other one is left. Keeps why the others did not serve.
 */
export class LinkQueue {
  readonly failures: LinkFailure[] = []
  readonly #request: QueuedRequest
  readonly #explainSkip: ((link: Model) => SkipReason | Promise<SkipReason>) | undefined
  readonly #links: readonly Model[]
  #taken = 0
  /** The links that had no room when it was their turn. */
  #full: readonly Model[] = []

  constructor(
    request: QueuedRequest,
    explainSkip: ((link: Model) => SkipReason | Promise<SkipReason>) | undefined,
  ) {
    this.#request = request
    this.#explainSkip = explainSkip
    this.#links = request.orderLinks()
  }

  /** Returns the next link, with a place at it; undefined when none is left. A promise where that takes long. */
  take(): Model | undefined | Promise<Model | undefined> {
    for (;;) {
      const link = this.#links[this.#taken++]
      if (!link) return this.#full.length === 0 ? undefined : this.#takeFull()
      const skip = this.#explainSkip?.(link)
      if (skip instanceof Promise || link.room) return this.#enterOrTake(link, skip)
      if (!skip) return link
      this.fail({ link, untranslatable: skip })
    }
  }

  /** Records why a link did not serve. */
  fail(failure: LinkFailure): void {
    this.failures.push(failure)
    this.#request.onLinkFailure(failure)
  }

  /** Records those that never had room. */
  failFull(): void {
    for (const link of this.#full) this.fail({ link, failure: noRoomLeft, attempts: 0 })
    this.#full = []
  }

  async #enterOrTake(
    link: Model,
    skip: SkipReason | Promise<SkipReason>,
  ): Promise<Model | undefined> {
    const untranslatable = await skip
    if (untranslatable) this.fail({ link, untranslatable })
    else if (!link.room || (await this.#request.enter(link))) return link
    else this.#full = [...this.#full, link]
    return this.take()
  }

  async #takeFull(): Promise<Model | undefined> {
    const { breakers } = this.#request.resilience
    const link = await this.#request.awaitRoom(this.#full.filter((each) => !breakers.isOpen(each)))
    if (!link) return undefined
    this.#full = this.#full.filter((each) => each !== link)
    // Another link may have been prepared since.
    await this.#explainSkip?.(link)
    return link
  }
}

const noRoomLeft = Object.freeze({ kind: 'no-room' } as const)
