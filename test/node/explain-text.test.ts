import { expect, test } from 'vitest'
import { renderExplained } from '../../adapters/node/commands/explain-text.ts'
import { plain } from '../../adapters/node/output/style.ts'

const style = { ...plain, yellow: (text: string) => `<${text}>` }

function renderCredential(credential: string, detail?: string): string | undefined {
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
  return /credential (.*), circuit/.exec(renderExplained(answer, style))?.[1]
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
])('the credential %s, %s is shown as %s', (state, detail, shown) => {
  expect(renderCredential(state, detail)).toBe(shown)
})

test('the calls of tools that are reserved are shown', () => {
  const link = {
    model: 'm',
    provider: 'p',
    credential: 'present',
    circuit: 'closed',
    dropped: [],
    tools: [
      { name: 'web_search', calls: 2, bounded: true },
      { name: 'web_fetch', calls: 4, bounded: false },
    ],
    error: null,
    upstream: null,
  }
  const shown = renderExplained(
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
  expect(shown).toContain(
    '   reserves 2 calls of web_search\n   reserves 4 calls of web_fetch (not bounded)',
  )
})
