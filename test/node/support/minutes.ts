import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for the next minute if the current one ends within `millis`: rate limits are those of a minute. */
export async function awayFromMinuteEnd(millis: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < millis) await sleep(left + 50)
}
