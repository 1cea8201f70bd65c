import type { Gateway } from '../../../src/index.ts'
import type { DemoClock } from './demo-clock.ts'

/** A request of the demo. */
interface DemoRequest {
  readonly key: string
  readonly body: object
}

/** The demo's keys by what they are for. */
export interface DemoKeys {
  readonly search: string
  readonly batch: string
  /** Its budget is spent soon, so that refusals can be seen. */
  readonly trial: string
}

/** How many minutes of traffic the demo begins with. */
export const pastMinutes = 60

/** Requests in a minute, in the past and live. */
const pace = 18

/** How far the clock moves on while an answer is under way. */
const stepMs = 25

/**
 * Sends the requests of the hour before the demo, one after the other, and winds the clock up as they are answered.
 * Resolves when the clock shows the present.
 */
export async function playPast(
  gateway: Gateway,
  { clock, keys }: { readonly clock: DemoClock; readonly keys: DemoKeys },
): Promise<void> {
  let count = 0
  for (let minute = 0; minute < pastMinutes; minute++) {
    const requests = Math.round(pace * (1 + 0.4 * Math.sin(minute / 7)))
    const end = clock.elapsed() + 60_000
    for (let sent = 0; sent < requests; sent++) {
      await windDuring(send(gateway, describeRequest(count++, keys)), clock)
      clock.wind(Math.max(0, (end - clock.elapsed()) / (requests - sent)))
    }
  }
}

/** Winds the clock up until an answer has arrived. */
async function windDuring(answering: Promise<void>, clock: DemoClock): Promise<void> {
  const answer = { isThere: false }
  const arrived = answering.finally(() => {
    answer.isThere = true
  })
  for (await takeTurn(); !answer.isThere; await takeTurn()) clock.wind(stepMs)
  await arrived
}

function takeTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Sends a request now and then. Returns what ends that. */
export function startTraffic(gateway: Gateway, keys: DemoKeys): () => void {
  let count = 0
  let timer: NodeJS.Timeout
  const next = () => {
    // The console shows how it went.
    void send(gateway, describeRequest(count++, keys)).catch(() => undefined)
    timer = setTimeout(next, pickPause(count))
  }
  timer = setTimeout(next, 0)
  return () => clearTimeout(timer)
}

/** Looks random, but is the same at each start. On average it keeps the pace. */
function pickPause(count: number): number {
  return (60_000 / pace) * (0.4 + ((count * 7_919) % 97) / 80)
}

/** Every how many requests one has the key without a budget left. */
const trialEvery = 23

const questions = [
  'What is a gateway for?',
  'Summarise the last three orders of this customer.',
  'Which documents mention the refund policy?',
  'Classify this ticket: the invoice has a wrong address.',
  'Translate the product page into French.',
]

/** Describes a request by its number. */
function describeRequest(count: number, { search, batch, trial }: DemoKeys): DemoRequest {
  const content = questions[count % questions.length] ?? ''
  const key = count % trialEvery === trialEvery - 1 ? trial : count % 3 === 0 ? batch : search
  return {
    key,
    body: {
      model: count % 4 === 0 ? 'demo-flaky' : 'demo',
      stream: count % 5 === 0,
      max_tokens: 100,
      messages: [{ role: 'user', content }],
    },
  }
}

/** Sends a request, and reads its answer to the end. */
async function send(gateway: Gateway, { key, body }: DemoRequest): Promise<void> {
  const request = new Request('http://demo.invalid/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await (await gateway.fetch(request)).text()
}
