import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { listFurtherPrices } from '../../adapters/node/prices/further.ts'
import { genaiPrices, readGenaiPrices } from '../../adapters/node/prices/genai-prices.ts'
import { litellmEntry, readLiteLlm } from '../../adapters/node/prices/litellm.ts'
import { openShippedTable, openTable, type tableFile } from '../../adapters/node/prices/table.ts'
import { tableDate } from '../../adapters/node/prices/table-date.ts'
import { toSettings } from '../../adapters/node/prices/to-settings.ts'
import { toPairs, toToml } from '../../adapters/node/prices/to-toml.ts'
import { loadConfig } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'
import { commandLine } from './support/cli.ts'

const text = readFileSync('adapters/node/prices/prices.json', 'utf8')
const { date, models } = JSON.parse(text) as z.infer<typeof tableFile>

describe('the table of prices', () => {
  test('has its date, which NOTICE and the start log have too, and one line a row', () => {
    expect(date).toBe(tableDate)
    expect(readFileSync('NOTICE', 'utf8')).toContain(`is of ${date}.`)
    expect(text.split('\n')).toHaveLength(models.length + 3)
  })

  test('has only kinds of the gateway, and each model once', () => {
    const names = new Set(kinds.map(({ name }) => name))
    expect(models.filter(({ kind }) => !names.has(kind))).toEqual([])
    const all = models.flatMap(({ kind, ids }) => ids.map((id) => `${kind} ${id}`))
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(2_000)
  })

  test('a row can be written into a configuration as it stands', async () => {
    // Rows with the same settings are one case.
    const names = new Set(['kind', 'ids', 'places'])
    const cases = new Set(
      models.map((row) =>
        JSON.stringify(
          Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name))),
        ),
      ),
    )
    const lines = [...cases].map((settings, at) => {
      const { prices = [], ...base } = JSON.parse(settings)
      const pairs = Object.entries(base).map(([key, value]) => `${key} = ${toToml(value)}`)
      const entries = prices.flatMap((entry: object) => [
        '[[providers.models.prices]]',
        ...toPairs(entry).map((pair) => pair.join(' = ')),
      ])
      return ['[[providers.models]]', `id = "model ${at}"`, ...pairs, ...entries].join('\n')
    })
    const config = `[[providers]]\nname = "all"\nkind = "openai"\n${lines.join('\n')}`
    const loaded = await loadConfig({ text: config, env: {}, kinds })
    expect(loaded.ok ? [] : loaded.problems).toEqual([])
  })

  test('knows current models by their id, and by that of a version', async () => {
    const table = await openShippedTable()
    for (const [kind, id] of [
      ['openai', 'gpt-6.1-sol'],
      ['openai', 'GPT-6.1-sol-2026-09-29'],
      ['anthropic', 'claude-opus-5-5-20261001'],
      ['google', 'gemini-3.8-flash'],
      ['vertex_ai', 'google/gemini-3.8-flash'],
      ['vertex_ai', 'publishers/anthropic/models/claude-opus-5-5@20261001'],
      ['bedrock', 'eu.anthropic.claude-opus-5-5'],
      ['azure', 'gpt-6.1-sol'],
      ['cohere', 'rerank-v3.5'],
    ] as const) {
      expect({ id, found: table.find(kind, id) !== undefined }).toEqual({ id, found: true })
    }
    expect(table.find('openai', 'claude-opus-5-5')).toBeUndefined()
  })
})

describe('prices that the file lacks', () => {
  const table = openTable({
    date: '2026-11-28',
    models: [
      {
        kind: 'openai',
        ids: ['sol'],
        cost_per_1m_input: 2,
        cost_per_1m_output: 10,
        cost_per_1m_cached_input: 0.1,
        cost_per_1m_cache_write: 2.5,
        tool_costs_per_1k: { web_search: 10 },
        prices: [
          { above_input: 272_000, cost_per_1m_input: 4, cost_per_1m_cache_write: 5 },
          { tier: 'ultrafast', multiply: 6 },
          { tier: 'flex', multiply: 0.5 },
        ],
      },
    ],
  })
  const further = async (settings: string) => {
    const config = `[[providers]]\nname = "openai"\nkind = "openai"\n[[providers.models]]\nid = "sol"\n${settings}`
    const loaded = await loadConfig({ text: config, env: {}, kinds })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    return listFurtherPrices(loaded.config, { catalogue: table, kinds })
  }
  const base = 'cost_per_1m_input = 2\ncost_per_1m_output = 10\n'
  const tools = 'cost_per_1k_web_searches = 10\n'
  const write = 'cost_per_1m_cache_write = 2.5\n'
  const step =
    '[[providers.models.prices]]\nabove_input = 272000\ncost_per_1m_input = 4\ncost_per_1m_cache_write = 5\n'
  const fast = '[[providers.models.prices]]\ntier = "ultrafast"\nmultiply = 6\n'

  test.each([
    [base, ['cache_write', 'above 272000', 'ultrafast', 'web_search'], 15],
    [base + write + tools, ['above 272000', 'ultrafast'], 12],
    [base + write + tools + step, ['ultrafast'], 6],
    [base + write + tools + fast, ['above 272000'], 2],
    [base + write + step + fast, ['web_search'], 1],
  ])('%j: %j, %d times', async (settings, names, maxRatio) => {
    expect(await further(settings)).toEqual([{ provider: 'openai', model: 'sol', names, maxRatio }])
  })

  test('of a model for decisions are those of its input', async () => {
    const capable = 'capabilities = ["decisions"]\ncost_per_1m_input = 2\n'
    expect(await further(capable)).toEqual([
      { provider: 'openai', model: 'sol', names: ['cache_write', 'above 272000'], maxRatio: 2.5 },
    ])
    expect(await further(capable + write + step)).toEqual([])
  })

  test('lower prices, a discount and a model without prices are none', async () => {
    expect(await further(base + write + tools + step + fast)).toEqual([])
    const half = (settings: string) =>
      settings.replace(/(cost_per_1m\w+) = ([\d.]+)/g, (_, name, price) => `${name} = ${price / 2}`)
    expect(await further(half(base + write) + tools + half(step) + fast)).toEqual([])
    expect(await further('')).toEqual([])
  })

  test('--check-config warns of them when auth is on', async () => {
    const line = await commandLine(
      `[[providers]]\nname = "a"\nkind = "anthropic"\n[[providers.models]]\nid = "claude-haiku-5-5"\ncost_per_1m_input = 0.1\ncost_per_1m_output = 0.5\n`,
    )
    const warning =
      /warning: claude-haiku-5-5 at a: the price table of \S+ has \d+ further prices \(.*above 100000.*\); a token can cost up to \d+ times what budgets count; see: gateway prices\n/
    expect((await line.run('--check-config')).stdout).toMatch(warning)
    const priced = readFileSync(line.config, 'utf8')
    writeFileSync(line.config, priced.replace('enabled = true', 'enabled = false'))
    expect((await line.run('--check-config')).stdout).not.toContain('price table')
    writeFileSync(line.config, priced)
    await line.run('prices', '--write')
    expect((await line.run('--check-config')).stdout).not.toContain('price table')
  })
})

describe('a catalogue written as settings', () => {
  const settings = (entry: object) => toSettings(readLiteLlm(litellmEntry.parse(entry)))
  const base = { input_cost_per_token: 1e-6, output_cost_per_token: 5e-6 }

  test('a threshold is exclusive, and inclusive at xAI', () => {
    const entry = { ...base, input_cost_per_token_above_200k_tokens: 2e-6 }
    const above = (own: object) => settings(own).prices?.map(({ above_input: least }) => least)
    expect(above(entry)).toEqual([200_000])
    expect(above({ ...entry, litellm_provider: 'xai' })).toEqual([199_999])
  })

  test('a tier is a factor only where one gives all prices exactly', () => {
    const cached = { ...base, cache_read_input_token_cost: 1e-7 }
    const flex = { input_cost_per_token_flex: 5e-7, output_cost_per_token_flex: 2.5e-6 }
    expect(settings({ ...base, ...flex }).prices).toEqual([{ tier: 'flex', multiply: 0.5 }])
    expect(settings({ ...cached, ...flex }).prices).toEqual([
      { tier: 'flex', cost_per_1m_input: 0.5, cost_per_1m_output: 2.5 },
    ])
    const third = { input_cost_per_token_flex: 3.33333e-7, output_cost_per_token_flex: 1.66667e-6 }
    expect(settings({ ...base, ...third }).prices).toEqual([
      { tier: 'flex', cost_per_1m_input: 0.333333, cost_per_1m_output: 1.66667 },
    ])
  })

  test('a tier that does not name the price of a step has the standard one there', () => {
    const entry = {
      ...base,
      input_cost_per_token_above_200k_tokens: 4e-6,
      input_cost_per_token_priority: 2e-6,
      output_cost_per_token_priority: 1e-5,
    }
    expect(settings(entry).prices).toEqual([
      { above_input: 200_000, cost_per_1m_input: 4 },
      { tier: 'priority', cost_per_1m_input: 2, cost_per_1m_output: 10 },
      { above_input: 200_000, tier: 'priority', cost_per_1m_input: 4 },
    ])
  })

  test('a price that always equals its default is left out', () => {
    const entry = {
      ...base,
      output_cost_per_reasoning_token: 5e-6,
      cache_read_input_token_cost: 1e-6,
    }
    expect(settings(entry)).toEqual({ cost_per_1m_input: 1, cost_per_1m_output: 5 })
    const stepped = { ...entry, input_cost_per_token_above_200k_tokens: 2e-6 }
    expect(settings(stepped)).toMatchObject({ cost_per_1m_cached_input: 1 })
  })

  test('reasoning in a tier that has only a price of its output costs what that does', () => {
    const entry = {
      ...base,
      output_cost_per_reasoning_token: 7e-6,
      input_cost_per_token_flex: 1e-6,
      output_cost_per_token_flex: 2e-6,
    }
    expect(settings(entry).prices).toEqual([
      { tier: 'flex', cost_per_1m_output: 2, cost_per_1m_reasoning: 2 },
    ])
  })

  test('a variant of genai-prices without steps is the price of all prompts', () => {
    const entry = {
      id: 'm',
      match: { equals: 'm' },
      prices: { input_mtok: { base: 1, tiers: [{ start: 100, price: 3 }] }, output_mtok: 5 },
      price_variants: [{ when: { service_tier: 'priority' }, prices: { input_mtok: 2 } }],
    }
    const [vendor] = genaiPrices.parse([{ id: 'a', models: [entry] }])
    expect(
      vendor?.models.map((model) => toSettings(readGenaiPrices(model, '2026-11-28')).prices),
    ).toEqual([
      [
        { above_input: 100, cost_per_1m_input: 3 },
        { tier: 'priority', cost_per_1m_input: 2 },
      ],
    ])
  })

  test('hours of lower prices are written as hours of higher ones', () => {
    const entry = {
      ...base,
      off_peak_pricing: {
        input_cost_per_token: 5e-7,
        output_cost_per_token: 2.5e-6,
        windows: [
          { hours_utc: ['10:00-01:00', '04:00-06:00'], weekdays: [1, 2, 3, 4, 5] },
          { hours_utc: '00:00-00:00', weekdays: [6, 7] },
        ],
      },
    }
    expect(settings(entry)).toEqual({
      cost_per_1m_input: 0.5,
      cost_per_1m_output: 2.5,
      prices: [
        {
          hours: ['01:00-04:00', '06:00-10:00'],
          days: ['mon', 'tue', 'wed', 'thu', 'fri'],
          multiply: 2,
        },
      ],
    })
  })

  test('the prices of a day hold from it on, and those of later days have their date', () => {
    const [vendor] = genaiPrices.parse([
      {
        id: 'a',
        models: [
          {
            id: 'm',
            match: { equals: 'm' },
            prices: [
              { prices: { input_mtok: 1 } },
              { constraint: { start_date: '2026-10-01' }, prices: { input_mtok: 2 } },
              { constraint: { start_date: '2027-01-01' }, prices: { input_mtok: 3 } },
            ],
          },
        ],
      },
    ])
    const on = (day: string) =>
      vendor?.models.map((model) => toSettings(readGenaiPrices(model, day)))[0]
    expect(on('2026-09-30')).toMatchObject({ cost_per_1m_input: 1 })
    expect(on('2026-12-31')).toEqual({
      cost_per_1m_input: 2,
      prices: [{ from: '2027-01-01', cost_per_1m_input: 3 }],
    })
    expect(on('2027-01-01')).toEqual({ cost_per_1m_input: 3 })
  })
})
