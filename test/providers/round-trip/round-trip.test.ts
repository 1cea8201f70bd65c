import { describe, test } from 'vitest'
import { Chance } from './chance.ts'
import { Conversation } from './conversation.ts'
import { doors } from './doors/index.ts'
import { vendors } from './vendors.ts'

/*
 * Random conversations of many turns: what a vendor's model wrote must come back to it in every later
 * turn, through each API of the gateway, unless it cannot carry it. The files of the vendors and of the doors
 * list those exceptions.
 *
 * A failure names its seed: `ROUND_TRIP_SEED=123` runs only that conversation, `ROUND_TRIPS=5000` runs
 * more of them.
 */

const { ROUND_TRIP_SEED: only, ROUND_TRIPS: length = 100 } = process.env

/** Seeds of one test: few, so that a busy machine does not exceed the time limit of the test. */
const blockSize = 20
const seeds =
  only === undefined ? Array.from({ length: Number(length) }, (_, at) => at) : [Number(only)]
const blocks = Array.from({ length: Math.ceil(seeds.length / blockSize) }, (_, at) => {
  const block = seeds.slice(at * blockSize, (at + 1) * blockSize)
  return [`${block[0]} to ${block.at(-1)}`, block] as const
})

const pairs = doors.flatMap((door) =>
  vendors
    .filter((vendor) => !door.isNative(vendor))
    .map((vendor) => ({ name: vendor.name, through: door.name, vendor, door })),
)

describe.each(pairs)('$name through $through', ({ vendor, door }) => {
  test.each(blocks)(
    'every turn of the model comes back to it unchanged, seeds %s',
    async (_, block) => {
      const gateway = await vendor.gateway()
      for (const seed of block) {
        const chance = new Chance(seed)
        try {
          const conversation = new Conversation(gateway, { vendor, door }, chance)
          await conversation.expectRoundTrips(2 + chance.below(5))
        } catch (error) {
          // The error itself, since it shows what differs.
          if (error instanceof Error) error.message = `ROUND_TRIP_SEED=${seed}: ${error.message}`
          throw error
        }
      }
    },
  )
})
