import { parseArgs } from 'node:util'
import { scanLayout } from '../../src/wire/json/scan.ts'
import { answerAxes } from '../../test/growth/answers.ts'
import { axes } from '../../test/growth/bodies.ts'
import {
  askForExplanation,
  explainingGateway,
  growthGateway,
  listAnswerDoors,
  models,
  type Outcome,
  sendBody,
  sendQuestion,
  servedBy,
  writeBody,
  writeExplainQuestion,
} from '../../test/growth/gateway.ts'
import { maxPiece, measureLongestPiece } from '../../test/growth/lag.ts'
import { runningClock } from '../../test/growth/running-clock.ts'

/*
 * Searches for work that holds the event loop: `npm run growth:lag -- [WORD …] [--all]` sends the largest bodies
 * that the limits allow through every door to every kind, explains them for a chain, and sends the largest answers
 * back: those with the most values, and those with the longest texts. Prints the processor time of the longest piece where it is over
 * 100 ms, and fails then; `--all` prints the others as well. WORDs select by the name of a line.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false } },
})

const encoder = new TextEncoder()
const mebibyte = 1024 * 1024

/** An input by its number of values and its length; what it lacks in length is added to its texts. */
interface Size {
  readonly name: string
  readonly values: number
  readonly bytes: number
}

const bodySizes: readonly Size[] = [
  { name: '99,000 values', values: 99_000, bytes: 0 },
  { name: '199,000 values', values: 199_000, bytes: 0 },
  { name: '10 MiB in 20,000 values', values: 20_000, bytes: 10 * mebibyte },
  { name: '10 MiB in 100 values', values: 100, bytes: 10 * mebibyte },
]
const answerSizes: readonly Size[] = [
  { name: '199,000 values', values: 199_000, bytes: 0 },
  { name: '990,000 values', values: 990_000, bytes: 0 },
  { name: '24 MiB in 100,000 values', values: 100_000, bytes: 24 * mebibyte },
  { name: '24 MiB in 100 values', values: 100, bytes: 24 * mebibyte },
]

interface Trial {
  readonly name: string
  readonly size: Size
  readonly write: (count: number) => string | Uint8Array
  readonly send: (input: Uint8Array<ArrayBuffer>) => Promise<Outcome>
}

const gateway = await growthGateway({ clock: runningClock })
const explaining = await explainingGateway({ clock: runningClock })

const trials: readonly Trial[] = [
  ...axes.flatMap((axis) => {
    const served = axis.door in servedBy ? ['cohere'] : models
    return served.flatMap((model) =>
      bodySizes.map((size) => ({
        name: `request ${axis.door} ${model}: ${axis.name}, ${size.name}`,
        size,
        write: (count: number) => writeBody(axis, model, count),
        send: (body: Uint8Array<ArrayBuffer>) =>
          sendBody(gateway, { door: axis.door, model, body }),
      })),
    )
  }),
  // A chain, whose links are all explained.
  ...axes
    .filter(({ door }) => !(door in servedBy || door.endsWith('count_tokens')))
    .flatMap((axis) =>
      bodySizes.map((size) => ({
        name: `explanation ${axis.door} chain: ${axis.name}, ${size.name}`,
        size,
        write: (count: number) =>
          writeExplainQuestion({
            door: axis.door,
            model: 'chain',
            body: writeBody(axis, 'chain', count),
          }),
        send: (question: Uint8Array<ArrayBuffer>) => askForExplanation(explaining, question),
      })),
    ),
  ...answerAxes.flatMap((axis) =>
    listAnswerDoors(axis).flatMap((door) =>
      answerSizes.map((size) => ({
        name: `${axis.isStream ? 'stream' : 'answer'} ${door} ${axis.model}: ${axis.name}, ${size.name}`,
        size,
        write: axis.make,
        send: (answer: Uint8Array) => sendQuestion(gateway, { door, axis, answer }),
      })),
    ),
  ),
]

let found = 0
for (const { name, size, write, send } of trials) {
  if (!positionals.every((word) => name.includes(word))) continue
  const fitting = fit(write, size)
  const input = typeof fitting === 'string' ? encoder.encode(fitting) : Uint8Array.from(fitting)
  let outcome: Outcome | undefined
  const send1 = async () => {
    outcome = await send(input)
  }
  let piece = await measureLongestPiece(send1)
  // The compiler may have disturbed it.
  if (piece > maxPiece) piece = Math.min(piece, await measureLongestPiece(send1))
  const isFound = piece > maxPiece
  if (isFound) found++
  if (isFound || values.all)
    console.log(`${piece.toFixed(0).padStart(6)} ms  ${name}${describe(outcome)}`)
}
console.log(found === 0 ? 'nothing holds the event loop' : `${found} found`)
process.exit(found === 0 ? 0 : 1)

/** Writes an input of a size. */
function fit(write: Trial['write'], { values: most, bytes }: Size): string | Uint8Array {
  const sample = 200
  const { values: sampled } = measure(write(sample))
  let count = Math.max(1, Math.floor((most * sample) / sampled))
  let input = write(count)
  for (let excess = measure(input).values / most; excess > 1 && count > 1; ) {
    count = Math.floor(count / excess) - 1
    input = write(count)
    excess = measure(input).values / most
  }
  if (typeof input !== 'string') return input
  const missing = bytes - input.length - 1000
  const places = input.split('"x"').length - 1
  if (missing <= 0 || places === 0) return input
  return input.replaceAll('"x"', `"${'x'.repeat(1 + Math.floor(missing / places))}"`)
}

function measure(input: string | Uint8Array): { readonly values: number } {
  // Events are not one JSON text; their values are counted by their marks.
  const text = String(input)
  if (!text.startsWith('{')) return { values: text.match(/[:,]/g)?.length ?? 1 }
  return scanLayout(encoder.encode(text), [])
}

/** Returns how the gateway has refused an input itself. */
function describe(outcome: Outcome | undefined): string {
  const refusal = /(LM-\d+|"message": ?"[^"]{0,60})/.exec(outcome?.body.slice(0, 5000) ?? '')
  return outcome?.status === 200 || refusal?.[1] === undefined
    ? ''
    : ` (${outcome?.status}: ${refusal[1]})`
}
