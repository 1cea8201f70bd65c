/** A question among the workers, or a state that all of them apply. Both are copied by structured clone. */
export interface Topic<Question, Answer> {
  /** Unique among all topics. */
  readonly name: string
  /** Never set; it binds the types to the name. */
  readonly types?: (question: Question) => Answer
}

/**
 * The processes that serve together as one gateway, seen by one of them. All have the same configuration,
 * and clients cannot choose which one serves them.
 */
export interface Workers {
  /** How many there are; limits of the whole gateway are divided by it. */
  readonly count: number
  /** The number of this one, from 1. */
  readonly number: number
  /** Sets how this worker answers a question, or applies a state. */
  answer<Question, Answer>(
    topic: Topic<Question, Answer>,
    handle: (question: Question) => Answer | Promise<Answer>,
  ): void
  /** Asks every worker, this one included. Leaves out those that fail or take too long. */
  ask<Question, Answer>(
    topic: Topic<Question, Answer>,
    question: Question,
  ): Promise<readonly Answer[]>
  /**
   * Has every other worker apply a state, and those that start later. Rejects when one of them fails or
   * takes too long.
   */
  publish<State>(topic: Topic<State, void>, state: State): Promise<void>
  /** Runs the changes of all workers one after the other. */
  inTurn<Result>(change: () => Promise<Result>): Promise<Result>
}

/** Returns one worker's share of a gateway-wide limit, at least 1. */
export function divideLimit(limit: number, { count }: Pick<Workers, 'count'>): number {
  return Math.max(1, Math.floor(limit / count))
}

/**
 * Returns this worker's share of a gateway-wide limit, at least 1. The shares of all workers are the limit together,
 * unless it is smaller than their number.
 */
export function shareLimit(
  limit: number,
  { count, number }: Pick<Workers, 'count' | 'number'>,
): number {
  return Math.max(1, Math.floor(limit / count) + (number <= limit % count ? 1 : 0))
}

/** The workers of a gateway that is one process. */
export function soleWorker(): Workers {
  const handlers = new Map<string, (question: unknown) => unknown>()
  let lastChange: Promise<unknown> = Promise.resolve()
  return {
    count: 1,
    number: 1,
    answer(topic, handle) {
      // A topic binds the types of its question and its answer to its name.
      handlers.set(topic.name, handle as (question: unknown) => unknown)
    },
    async ask<Question, Answer>({ name }: Topic<Question, Answer>, question: Question) {
      const handle = handlers.get(name)
      return handle ? [(await handle(question)) as Answer] : []
    },
    publish: async () => {},
    inTurn(change) {
      const result = lastChange.then(change)
      lastChange = result.catch(() => {})
      return result
    },
  }
}
