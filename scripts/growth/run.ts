import { parseArgs } from 'node:util'
import { answerAxes } from '../../test/growth/answers.ts'
import { axes } from '../../test/growth/bodies.ts'
import {
  growthGateway,
  listAnswerDoors,
  models,
  type Outcome,
  sendBody,
  sendQuestion,
  servedBy,
  writeBody,
} from '../../test/growth/gateway.ts'
import {
  growth,
  maxGrowth,
  measureGrowth,
  measureProcessorTime,
} from '../../test/growth/measure.ts'

/*
 * Searches for work that grows faster than a request or an answer: `npm run growth -- [WORD …] [--values 8000]`
 * sends every body with one thing many times through every door to every kind, and every such answer back.
 * WORDs select by the name of a line. Fails when the time, or what is written, grows out of proportion.
 * What is found belongs into test/growth/growth.test.ts, with its fix.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { values: { type: 'string', default: '8000' } },
})
/** The number of values in the smaller input; half of what a translated request may have at most. */
const smallValues = Number(values.values)

interface Trial {
  readonly name: string
  /** Writes an input with this many things. */
  readonly write: (count: number) => string | Uint8Array
  readonly send: (input: string | Uint8Array) => Promise<Outcome>
}

const gateway = await growthGateway()

const trials: readonly Trial[] = [
  ...axes.flatMap((axis) => {
    const served = axis.door in servedBy ? ['cohere'] : models
    return served.map((model) => ({
      name: `request ${axis.door} ${model}: ${axis.name}`,
      write: (count: number) => writeBody(axis, model, count),
      send: (body: string | Uint8Array) =>
        sendBody(gateway, { door: axis.door, model, body: String(body) }),
    }))
  }),
  ...answerAxes.flatMap((axis) =>
    listAnswerDoors(axis).map((door) => ({
      name: `${axis.isStream ? 'stream' : 'answer'} ${door} ${axis.model}: ${axis.name}`,
      write: axis.make,
      send: (answer: string | Uint8Array) => sendQuestion(gateway, { door, axis, answer }),
    })),
  ),
]

let found = 0
for (const { name, write, send } of trials) {
  if (!positionals.every((word) => name.includes(word))) continue
  const count = findCount(write)
  const [small, large] = [write(count), write(count * growth)]
  const before = await send(small)
  let after: Outcome | undefined
  const time = await measureProcessorTime(async () => {
    after = await send(large)
  })
  const ratio = await measureGrowth(count, async (size) => {
    const input = write(size)
    return () => send(input)
  })
  const written = after && before.written > 0 ? after.written / before.written : 0
  const isFound =
    ratio > maxGrowth || written > (maxGrowth / growth) * (large.length / small.length)
  if (isFound) found++
  const facts = `${count * growth} in ${time.toFixed(0)} ms, time x ${ratio.toFixed(1)}, written x ${written.toFixed(1)}`
  console.log(`${isFound ? 'FOUND ' : ''}${name}: ${facts}${describe(after)}`)
}
console.log(found === 0 ? 'nothing grows out of proportion' : `${found} found`)
process.exit(found === 0 ? 0 : 1)

/** Finds how many things an input of the smaller size holds. */
function findCount(write: Trial['write']): number {
  const sample = 200
  const marks = String(write(sample)).match(/[:,]/g)?.length ?? sample
  return Math.max(10, Math.floor((smallValues * sample) / marks))
}

/** Returns how the gateway has refused an input itself. */
function describe(outcome: Outcome | undefined): string {
  const [, code] = /"code":"(LM-[^"]*)"/.exec(outcome?.body ?? '') ?? []
  return code && code !== 'LM-3003' ? ` (${code})` : ''
}
