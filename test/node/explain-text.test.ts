import { expect, test } from 'vitest'
import { renderExplained } from '../../adapters/node/commands/explain-text.ts'
import { plain } from '../../adapters/node/output/style.ts'

const style = { ...plain, yellow: (text: string) => `<${text}>` }

async function renderCredential(credential: string, detail?: string): Promise<string | undefined> {
  const link = {
    model: 'm',
    provider: 'p',
    credential,
    credential_detail: detail,
    circuit: 'closed',
    dropped: [],
    prompt_price: null,
    error: null,
    upstream: null,
  }
  const answer = {
    route: null,
    links: [link],
    estimate: null,
    reservation: null,
    admission: { verdict: 'admitted', scope: null },
    error: null,
  }
  return /credential (.*), circuit/.exec(await renderExplained(answer, style))?.[1]
}

test.each([
  ['present', 'present', 'present'],
  ['present', 'stored', 'stored'],
  ['present', 'AWS instance role', 'AWS instance role'],
  ['not_needed', 'not needed', 'not needed'],
  ['missing', 'P_KEY is unset', '<missing: P_KEY is unset>'],
  ['partial', '1 of 2 present: B is unset', '<1 of 2 present: B is unset>'],
  ['parked', 'parked (2 present)', '<parked (2 present)>'],
  // As gateways of an earlier version answer.
  ['present', undefined, 'present'],
  ['missing', undefined, '<missing>'],
])('the credential %s, %s is shown as %s', async (state, detail, shown) => {
  expect(await renderCredential(state, detail)).toBe(shown)
})

test('what is reserved is shown line by line, and the price that is missing', async () => {
  const line = { per: 1_000_000, price_entries: null, bounded: true }
  const link = {
    model: 'm',
    provider: 'p',
    credential: 'present',
    circuit: 'closed',
    dropped: [],
    reservation: 0.040123,
    lines: [
      {
        ...line,
        name: 'written_1h',
        count: 41_000,
        price: 3,
        cost: 0.000123,
        price_entries: 'flex',
      },
      { ...line, name: 'web_search', count: 4, price: 10, per: 1_000, cost: 0.04, bounded: false },
    ],
    unpriced: { missing: 'price for output', setting: 'cost_per_1m_output' },
    error: null,
    upstream: null,
  }
  const shown = await renderExplained(
    {
      route: null,
      links: [link],
      estimate: null,
      reservation: null,
      admission: { verdict: 'admitted', scope: null },
      error: null,
    },
    style,
  )
  expect(shown.split('\n').slice(-5)).toEqual([
    '   <cost not known>: no price for output, set cost_per_1m_output',
    '   reserves $0.040123',
    '                  COUNT  PRICE              US DOLLARS',
    '     written 1h  41,000  × $3 / 1,000,000  0.000123000  flex',
    '     web search       4  × $10 / 1,000     0.040000000  not bounded',
  ])
})

test('the cases of a switch are shown with what decided', async () => {
  const condition = (name: string, value: unknown, holds: boolean) => ({ name, value, holds })
  const cases = [
    {
      target: 'a',
      holds: false,
      conditions: [condition('stream', true, true), condition('metadata.team', null, false)],
    },
    {
      target: 'b',
      holds: true,
      conditions: [condition('stream', true, true), condition('input_tokens', 812, true)],
    },
  ]
  const answer = {
    route: { id: 's', switches: [{ id: 's', target: 'b', cases }], order: ['b'] },
    links: [],
    estimate: null,
    reservation: null,
    admission: { verdict: 'admitted', scope: null },
    error: null,
  }
  expect(await renderExplained(answer, style)).toBe(
    [
      'Route      s: b',
      'Switch     s serves as b',
      '           case 1, a: does not hold: metadata.team is absent',
      '           case 2, b: holds: stream is true, input_tokens is 812',
      'Verdict    admitted',
    ].join('\n'),
  )
})
