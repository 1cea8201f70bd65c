import { expect, test } from 'vitest'
import { cutsOf, pieces } from '../../support/pieces.ts'
import { readFixtures, type StreamCase } from '../../support/vendor-fixtures.ts'
import { anthropicGateway, asking } from './support.ts'

const shown = readFixtures<StreamCase>({ kind: 'anthropic' }, 'streams').filter(
  ({ frames }) => frames,
)

test.each(shown)(
  'the chunks are the same wherever the network splits the stream: $name',
  async ({ chunks }) => {
    const { chat, upstream } = await anthropicGateway()
    const show = async (cut: readonly Uint8Array[]) => {
      upstream.next(pieces(cut))
      const response = await chat(asking({ stream: true }), { headers: { 'x-request-id': 'r' } })
      return response.text()
    }
    const bytes = new TextEncoder().encode(chunks.join(''))
    const whole = await show([bytes])
    for (const cut of cutsOf(bytes)) expect(await show(cut)).toBe(whole)
  },
)
