import { describe, test } from 'vitest'
import { anthropic } from './anthropic.ts'
import { Chance } from './chance.ts'
import { cohere } from './cohere.ts'
import { Conversation } from './conversation.ts'
import { bedrock, kimi, mistral } from './converse.ts'
import { gemini2, gemini3 } from './gemini.ts'

/*
 * Conversations of many turns, made up by chance: what a vendor has said comes back to it in every
 * later turn, wherever the message of the OpenAI format can carry it. The vendors say what it cannot.
 *
 * A failure names its seed: `ROUND_TRIP_SEED=123` plays that conversation alone, and
 * `ROUND_TRIPS=5000` plays more of them.
 */

const { ROUND_TRIP_SEED: only, ROUND_TRIPS: length = 200 } = process.env
const seeds =
  only === undefined ? Array.from({ length: Number(length) }, (_, at) => at) : [Number(only)]

describe.each([anthropic, bedrock, kimi, mistral, gemini2, gemini3, cohere])('$name', (vendor) => {
  test('every turn of the model comes back to it unchanged', async () => {
    const gateway = await vendor.gateway()
    for (const seed of seeds) {
      const chance = new Chance(seed)
      try {
        await new Conversation(gateway, vendor, chance).play(2 + chance.below(5))
      } catch (error) {
        // The error itself, since it shows what differs.
        if (error instanceof Error) error.message = `ROUND_TRIP_SEED=${seed}: ${error.message}`
        throw error
      }
    }
  })
})
