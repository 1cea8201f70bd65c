import { describe, expect, test } from 'vitest'
import { asking, refused, sentConfig } from './support.ts'

describe('reasoning effort', () => {
  const budgets = [0, 1024, 1024, 8192, 24576, 24576]
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']
  const shown = { includeThoughts: true }

  async function thinking(upstreamId: string) {
    const configs = efforts.map((reasoning_effort) => sentConfig({ reasoning_effort }, upstreamId))
    return (await Promise.all(configs)).map((config) => config?.['thinkingConfig'])
  }

  test.each([
    ['gemini-2.5-flash', budgets],
    ['gemini-2.5-pro', [128, ...budgets.slice(1)]],
    ['gemini-robotics-er-1.5-preview', budgets],
  ])('reasoning_effort becomes a budget for %s', async (upstreamId, expected) => {
    expect(await thinking(upstreamId)).toEqual(
      expected.map((thinkingBudget, at) => ({ thinkingBudget, ...(at > 0 && shown) })),
    )
  })

  test.each([
    ['gemini-3-pro-preview', ['LOW', 'LOW', 'LOW', 'HIGH', 'HIGH', 'HIGH']],
    ['gemini-3.1-pro', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.6-flash', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.7-flash', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.8-flash-lite', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-flash-latest', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
  ])('reasoning_effort becomes a level for %s', async (upstreamId, expected) => {
    expect(await thinking(upstreamId)).toEqual(
      expected.map((thinkingLevel, at) => ({ thinkingLevel, ...(at > 0 && shown) })),
    )
  })

  test.each<[string, object, object]>([
    [
      'shows thoughts without an effort',
      { google: { thinking_config: { include_thoughts: true } } },
      { includeThoughts: true },
    ],
    [
      'wins over the effort, of which no budget stays beside a level',
      {
        reasoning_effort: 'high',
        extra_body: { google: { thinking_config: { thinking_level: 'low' } } },
      },
      { thinkingLevel: 'LOW' },
    ],
    [
      'hides thoughts at the depth of the effort',
      { reasoning_effort: 'low', google: { thinking_config: { include_thoughts: false } } },
      { thinkingBudget: 1024, includeThoughts: false },
    ],
    [
      'at the top level wins over extra_body',
      {
        google: { thinking_config: { thinking_budget: -1 } },
        extra_body: { google: { thinking_config: { thinking_budget: 5 } } },
      },
      { thinkingBudget: -1 },
    ],
  ])("Google's own thinking_config %s", async (_, fields, expected) => {
    const config = await sentConfig(fields, 'gemini-2.5-flash')
    expect(config?.['thinkingConfig']).toEqual(expected)
  })

  test('a thinking_config of a wrong type is refused with the path of the field', async () => {
    const extra_body = { google: { thinking_config: { thinking_budget: 'much' } } }
    expect((await refused(asking({ extra_body })))['param']).toBe(
      'extra_body.google.thinking_config.thinking_budget',
    )
  })

  test.each(['gemini-2.0-flash', 'gemini-3-pro-image-preview', 'gemma-3-27b-it', 'mine'])(
    '%s does not support reasoning_effort',
    async (upstreamId) => {
      expect(await thinking(upstreamId)).toEqual(efforts.map(() => undefined))
      const request = asking({ reasoning_effort: 'low' })
      expect((await refused(request, { upstreamId, strict: true }))['param']).toBe(
        'reasoning_effort',
      )
    },
  )
})
