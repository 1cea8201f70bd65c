import { describe, expect, test } from 'vitest'
import { fileWithModels, listProblems } from './support.ts'

const model = `[[providers]]
name = "p"
kind = "openai"
[[providers.models]]
id = "m"
`
const file = (...entries: readonly string[]) =>
  model + entries.map((entry) => `[[providers.models.prices]]\n${entry}\n`).join('')

describe('an entry of the prices', () => {
  test.each<[string, readonly string[]]>([
    ['a price of a tool', ['above_input = 10\ntool_costs_per_1k = { web_search = 1 }']],
    ['a step', ['above_input = 10\ncost_per_1m_input = 1']],
    ['a factor for tiers', ['tier = ["a", "b"]\nmultiply = 1.0001']],
    [
      'hours with days and a zone',
      ['hours = ["22:00-02:00"]\ndays = ["fri"]\ntime_zone = "Asia/Shanghai"\nmultiply = 2'],
    ],
    ['dates', ['from = 2027-01-01\nuntil = 2027-02-01\nmultiply = 2']],
    ['a date as text', ['from = "2027-01-01"\nmultiply = 2']],
    ['rising steps', ['above_input = 1\nmultiply = 2', 'above_input = 2\nmultiply = 2']],
    [
      'steps of different tiers',
      ['above_input = 2\ntier = "a"\nmultiply = 2', 'above_input = 1\nmultiply = 2'],
    ],
  ])('%s is accepted', async (_, entries) => {
    expect(await listProblems(file(...entries))).toEqual([])
  })

  test.each<[string, string, readonly string[]]>([
    [
      'no condition',
      'providers[0].models[0].prices[0] (line 6): needs a condition: above_input, tier, geo, hours, from, until',
      ['multiply = 2'],
    ],
    [
      'no price',
      'providers[0].models[0].prices[0] (line 6): needs a price, or multiply',
      ['tier = "a"'],
    ],
    [
      'days without hours',
      'providers[0].models[0].prices[0].days (line 8): needs hours',
      ['tier = "a"\ndays = ["mon"]\nmultiply = 2'],
    ],
    [
      'a zone without hours',
      'providers[0].models[0].prices[0].time_zone (line 8): needs hours',
      ['tier = "a"\ntime_zone = "UTC"\nmultiply = 2'],
    ],
    [
      'an unknown zone',
      'providers[0].models[0].prices[0].time_zone (line 8): unknown time zone "Mars"',
      ['hours = ["01:00-02:00"]\ntime_zone = "Mars"\nmultiply = 2'],
    ],
    [
      'steps that fall',
      'providers[0].models[0].prices[1].above_input (line 10): must be more than 2, the step before it: steps rise',
      ['above_input = 2\nmultiply = 2', 'above_input = 2\nmultiply = 3'],
    ],
    [
      'dates in reverse',
      'providers[0].models[0].prices[0].until (line 8): must be later than from',
      ['from = 2027-01-01\nuntil = 2027-01-01\nmultiply = 2'],
    ],
    [
      'five decimals',
      'providers[0].models[0].prices[0].multiply (line 8): must have at most 4 decimals',
      ['tier = "a"\nmultiply = 1.00001'],
    ],
    [
      'a time in another form',
      'providers[0].models[0].prices[0].hours[0] (line 7): must be two times of a day, such as "16:30-00:30"',
      ['hours = ["1:00-2:00"]\nmultiply = 2'],
    ],
    [
      'a time of day as a date',
      'providers[0].models[0].prices[0].from (line 7): must be a date, such as 2027-01-31',
      ['from = 2027-01-01T00:00:00Z\nmultiply = 2'],
    ],
    [
      'a tier that no answer names',
      'providers[0].models[0].prices[0].tier (line 7): must be 1 to 40 lower-case letters, digits, "_", "." or "-"',
      ['tier = "Priority"\nmultiply = 2'],
    ],
  ])('%s is refused', async (_, problem, entries) => {
    expect(await listProblems(file(...entries))).toEqual([problem])
  })
})

test('a date is a problem of every other setting', async () => {
  expect(await listProblems(model.replace('"m"', '2027-01-01'))).toHaveLength(1)
})

test('a price of searches may have only one of its two names', async () => {
  const rule = 'says the same as tool_costs_per_1k.web_search: keep one of them'
  const both = 'cost_per_1k_web_searches = 1\ntool_costs_per_1k = { web_search = 1 }'
  const other = 'cost_per_1k_web_searches = 1\ntool_costs_per_1k = { file_search = 1 }'
  expect(await listProblems(fileWithModels({ m: both }))).toEqual([
    `providers[0].models[0].cost_per_1k_web_searches (line 6): ${rule}`,
  ])
  const entry = (text: string) => `[[providers.models.prices]]\ntier = "a"\n${text}`
  expect(await listProblems(fileWithModels({ m: entry(both) }))).toEqual([
    `providers[0].models[0].prices[0].cost_per_1k_web_searches (line 8): ${rule}`,
  ])
  expect(await listProblems(fileWithModels({ m: other }))).toEqual([])
})

test('a price of an unknown tool is refused', async () => {
  const [problem] = await listProblems(fileWithModels({ m: 'tool_costs_per_1k.telepathy = 1' }))
  expect(problem).toContain('telepathy')
})
