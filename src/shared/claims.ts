import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import { type SharedState, SharedStateFault } from '../core/shared-state.ts'

/*
 * Two names, such as `localhost` and `127.0.0.1`, may lead to one server. A gateway asks there for the gateways that
 * hold its database: a question is written and published, and each of them that finds it writes the id of its claim
 * beside it. So each of the two has read what the other one has just written. Nothing that lasts would prove as much:
 * a copy of the server has the same values, and an emptied one has none.
 */

const channel = 'claims'

/** How long a gateway asks: the others may be about to start, or busy. */
const maxAskTime: Millis = 2_000

/** The pause between two questions. */
const pause: Millis = 100

/** Answers every gateway that asks for the holders of a claim, while this process runs. */
export function answerForClaim(shared: SharedState, id: string): void {
  shared.subscribe(channel, (question) => {
    void shared.call('claim_answer', [question, id]).catch(() => {})
  })
}

export interface MeetingOptions {
  readonly shared: SharedState
  readonly clock: Pick<Clock, 'elapsed' | 'schedule'>
}

/** Yields the ids of the claims of all that have answered, each time that there are more; ends after 2 s. */
export async function* meetClaims({
  shared,
  clock,
}: MeetingOptions): AsyncGenerator<readonly string[]> {
  const question = crypto.randomUUID()
  const end = clock.elapsed() + maxAskTime
  let count = 0
  while (clock.elapsed() < end) {
    const met = await ask(shared, question)
    if (met.length > count) yield met
    count = met.length
    await new Promise<void>((resolve) => clock.schedule(pause, resolve))
  }
}

async function ask(shared: SharedState, question: string): Promise<readonly string[]> {
  try {
    const [, ...met] = await shared.call('claim_ask', [question])
    return met
  } catch (error) {
    if (error instanceof SharedStateFault) return []
    throw error
  }
}
