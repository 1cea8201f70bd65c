import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { editToml } from '../../adapters/node/config/toml-edit.ts'
import { findMarked, writeMarked } from '../../adapters/node/config/toml-tables.ts'
import { commandLine } from './support/cli.ts'

const config = `# my gateway
[[providers]]
name = "openai"   # the vendor
kind = "openai"
api_key_env = "OPENAI_API_KEY"

  [[providers.models]]
  id = "fast"                      # what clients ask for
  upstream_id = "gpt-6.1-sol"
  cost_per_1m_input = 9.99         # an old price

[[providers]]
name = "claude"
kind = "anthropic"
models = [{ id = "claude-haiku-5-5" }, { id = "unheard-of" }]

[[providers]]
name = "own"
kind = "vllm"
base_url = "http://127.0.0.1:8000/v1"
models = [{ id = "gpt-6.1-sol" }]
`

const sol = {
  kind: 'openai',
  ids: ['gpt-6.1-sol', 'gpt-sol'],
  places: { eu: 1.1 },
  cost_per_1m_input: 2,
  cost_per_1m_output: 10,
  cost_per_1m_cached_input: 0.1,
  tool_costs_per_1k: { web_search: 10 },
  prices: [
    { above_input: 272_000, cost_per_1m_input: 4, cost_per_1m_output: 15 },
    { tier: 'priority', multiply: 2 },
    { tier: ['flex', 'batch'], multiply: 0.5 },
  ],
}
const haiku = {
  kind: 'anthropic',
  ids: ['claude-haiku-5-5'],
  cost_per_1m_input: 0.1,
  cost_per_1m_output: 0.5,
  prices: [{ geo: 'us', multiply: 1.1 }],
}
const later = { from: '2027-01-01', cost_per_1m_input: 3 }
const table = (...models: readonly object[]) => ({ date: '2026-11-28', models })

async function written(text = config, prices: object = table(sol, haiku)) {
  const line = await commandLine()
  writeFileSync(line.config, text)
  const file = join(line.folder, 'prices.json')
  writeFileSync(file, JSON.stringify(prices))
  const runHere = (...args: readonly string[]) => line.run('prices', '--from', file, ...args)
  return {
    ...line,
    prices: runHere,
    json: async (...args: readonly string[]) =>
      JSON.parse((await runHere(...args, '--json')).stdout),
    read: () => readFileSync(line.config, 'utf8'),
    replace: (other: object) => writeFileSync(file, JSON.stringify(other)),
  }
}

const entries = `
  [[providers.models.prices]] # from the price table of 2026-11-28
  above_input = 272000
  cost_per_1m_input = 4
  cost_per_1m_output = 15

  [[providers.models.prices]] # from the price table of 2026-11-28
  tier = "priority"
  multiply = 2

  [[providers.models.prices]] # from the price table of 2026-11-28
  tier = ["flex", "batch"]
  multiply = 0.5
`

describe('prices', () => {
  test('shows the prices and entries that differ, and the models that the table does not know', async () => {
    const line = await written()
    const { stdout } = await line.prices()
    expect(stdout).toMatch(/^price table of 2026-11-28$/m)
    expect(stdout).toMatch(/^fast +openai +cost_per_1m_input +9\.99 +2$/m)
    expect(stdout).toMatch(/^fast +openai +cost_per_1m_output +none +10$/m)
    expect(stdout).toMatch(/^fast +openai +tool_costs_per_1k +none +web_search 10$/m)
    expect(stdout).toMatch(/^fast +openai +above 272000 +none +input 4, output 15$/m)
    expect(stdout).toMatch(/^fast +openai +flex\/batch +none +x0\.5$/m)
    expect(stdout).toMatch(/^claude-haiku-5-5 +claude +geo us +none +x1\.1$/m)
    expect(stdout).toMatch(/^not in the table: unheard-of, gpt-6\.1-sol$/m)
    expect(line.read()).toBe(config)
  })

  test('--write keeps comments and layout, and leaves nothing to do', async () => {
    const line = await written()
    const { code, stdout } = await line.prices('--write')
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/wrote .*\n$/),
    })
    const base =
      '  cost_per_1m_output = 10\n  cost_per_1m_cached_input = 0.1\n  tool_costs_per_1k = { web_search = 10 }\n'
    expect(line.read()).toBe(
      config
        .replace('9.99         # an old price\n', `2         # an old price\n${base}${entries}`)
        .replace(
          '{ id = "claude-haiku-5-5" }',
          `{ id = "claude-haiku-5-5", cost_per_1m_input = 0.1, cost_per_1m_output = 0.5, prices = [ # from the price table of 2026-11-28
  { geo = "us", multiply = 1.1 }
] }`,
        ),
    )
    expect(readFileSync(`${line.config}.bak`, 'utf8')).toBe(config)
    expect(await line.prices('--check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^no price differs$/m),
    })
  })

  test('--check ends with 1 when a price or an entry differs, and writes nothing', async () => {
    const line = await written()
    expect(await line.prices('--check')).toMatchObject({
      code: 1,
      stderr: `${line.config}: the prices of 2 models differ from the price table of 2026-11-28\n`,
    })
    expect(line.read()).toBe(config)
    await line.prices('--write')
    const text = line.read()
    writeFileSync(line.config, text.replace('multiply = 0.5', 'multiply = 0.6'))
    expect(await line.prices('--check')).toMatchObject({ code: 1 })
    expect(await line.prices('--check', '--write')).toMatchObject({ code: 2 })
  })

  test('--only-missing leaves the prices and the entries of the file', async () => {
    const own = config.replace(
      '# an old price',
      '# an old price\n  [[providers.models.prices]]\n  tier = "priority"\n  multiply = 3',
    )
    const line = await written(own)
    await line.prices('--write', '--only-missing')
    expect(line.read()).toContain('cost_per_1m_input = 9.99')
    expect(line.read()).toContain('cost_per_1m_output = 10')
    expect(line.read().match(/\[\[providers\.models\.prices\]\]/g)).toHaveLength(1)
    expect(line.read()).toContain('geo = "us"')
  })

  test('entries that the command has written follow a newer table', async () => {
    const line = await written()
    await line.prices('--write')
    line.replace({
      ...table(
        { ...sol, prices: [{ tier: 'priority', multiply: 2.5 }, later] },
        { ...haiku, prices: [] },
      ),
      date: '2027-02-01',
    })
    expect(await line.prices('--check')).toMatchObject({ code: 1 })
    await line.prices('--write')
    const text = line.read()
    expect(text).not.toContain('272000')
    expect(text).not.toContain('2026-11-28\n  tier')
    expect(text).toContain(`
  tool_costs_per_1k = { web_search = 10 }

  [[providers.models.prices]] # from the price table of 2027-02-01
  tier = "priority"
  multiply = 2.5

  [[providers.models.prices]] # from the price table of 2027-02-01
  from = 2027-01-01
  cost_per_1m_input = 3

[[providers]]
`)
    expect(await line.prices('--check')).toMatchObject({ code: 0 })
  })

  test("the user's own entries stay, and are named when they give other prices", async () => {
    const own = config.replace(
      '# an old price',
      '# an old price\n  [[providers.models.prices]]\n  tier = "priority"\n  multiply = 3',
    )
    const line = await written(own)
    const { stdout } = await line.prices('--write')
    expect(stdout).toContain('fast at openai has entries of its own under prices, which stay')
    expect(line.read()).toContain('multiply = 3')
    expect(line.read()).not.toContain('above_input')
    expect(line.read()).toContain('cost_per_1m_output = 10')
    expect(await line.prices('--check')).toMatchObject({ code: 1 })
  })

  test('the same prices in another form are no difference', async () => {
    const own = `[[providers]]
name = "openai"
kind = "openai"

[[providers.models]]
id = "gpt-6.1-sol"
cost_per_1m_input = 2
cost_per_1m_output = 10
cost_per_1m_cached_input = 0.1
cost_per_1k_web_searches = 10

[[providers.models.prices]]
above_input = 272000
cost_per_1m_input = 4
cost_per_1m_output = 15

[[providers.models.prices]]
tier = ["flex", "batch", "other"]
multiply = 0.5

[[providers.models.prices]]
tier = "priority"
cost_per_1m_input = 4
cost_per_1m_output = 20
cost_per_1m_cached_input = 0.2

[[providers.models.prices]]
above_input = 272000
tier = "priority"
cost_per_1m_input = 8
cost_per_1m_output = 30
`
    const line = await written(own)
    expect(await line.prices('--check')).toMatchObject({ code: 0 })
  })

  test('--all shows what does not differ too', async () => {
    const line = await written()
    await line.prices('--write')
    const { stdout } = await line.prices('--all')
    expect(stdout).toMatch(/^fast +openai +cost_per_1m_input +2 +2$/m)
    expect(stdout).toMatch(/^fast +openai +priority +same +x2$/m)
  })

  test('--json lists the changes and the entries', async () => {
    const line = await written()
    expect(await line.json()).toMatchObject({
      table: 'price table of 2026-11-28',
      changes: expect.arrayContaining([
        {
          provider: 'openai',
          model: 'fast',
          field: 'cost_per_1m_input',
          before: 9.99,
          after: 2,
        },
      ]),
      entries: expect.arrayContaining([
        { provider: 'claude', model: 'claude-haiku-5-5', entry: haiku.prices[0], isWritten: true },
      ]),
      unknown: ['unheard-of', 'gpt-6.1-sol'],
    })
  })

  test('an invalid file is bad usage, and stays as it is', async () => {
    const line = await written('[servr]')
    expect(await line.prices('--write')).toMatchObject({ code: 2 })
    expect(line.read()).toBe('[servr]')
  })

  test('fees of tools in a table of their own are set there', async () => {
    const own = config.replace(
      '# an old price',
      '# an old price\n  [providers.models.tool_costs_per_1k]\n  web_search = 3\n  maps = 1',
    )
    const line = await written(own)
    await line.prices('--write')
    expect(line.read()).toContain('tool_costs_per_1k]\n  web_search = 10\n  maps = 1\n')
    expect(await line.prices('--check')).toMatchObject({ code: 0 })
  })
})

describe('the prices of a place', () => {
  const provider = (address: string, more = '') => `[[providers]]
name = "there"
kind = "openai"
base_url = "${address}"
${more}
[[providers.models]]
id = "gpt-6.1-sol"
`
  const inputAt = async (text: string) => {
    const { changes } = await (await written(text)).json()
    return changes.find((change: { field: string }) => change.field === 'cost_per_1m_input')?.after
  }

  test.each([
    ['https://api.openai.com/v1', 2],
    ['https://eu.api.openai.com/v1', 2.2],
    ['https://sg.api.openai.com/v1', 2],
    ['https://api.openai.example/v1', undefined],
  ])('%s: %s', async (address, price) => {
    expect(await inputAt(provider(address))).toBe(price)
  })

  test('a factor of the provider is in place of that of the vendor', async () => {
    expect(await inputAt(provider('https://eu.api.openai.com/v1', 'price_multiplier = 1.1'))).toBe(
      2,
    )
  })

  test('a server with the address of another kind has the prices of that kind', async () => {
    const text = provider('https://api.anthropic.com/v1').replace('gpt-6.1-sol', 'claude-haiku-5-5')
    expect(await inputAt(text)).toBe(0.1)
  })
})

describe('prices that differ by time', () => {
  test('the hour at which the command runs makes no difference', async () => {
    const line = await written(`[[providers]]
name = "deepseek"
kind = "deepseek"
models = [{ id = "deepseek-v4-pro" }]

[[providers]]
name = "google"
kind = "google"
models = [{ id = "gemini-3.8-flash" }]
`)
    onTestFinished(() => void vi.useRealTimers())
    const outputs = new Set<string>()
    for (let hour = 0; hour < 24; hour += 3) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 27, hour, 30) })
      outputs.add((await line.run('prices')).stdout)
    }
    expect(outputs.size).toBe(1)
    expect([...outputs][0]).toMatch(/^deepseek-v4-pro +deepseek +\d\d:00-.* none +x2$/m)
  })

  test('prices of a later date are shown apart', async () => {
    const line = await written(config, table({ ...sol, prices: [later] }))
    const { stdout } = await line.prices()
    expect(stdout).toMatch(/^from 2027-01-01 on, fast at openai: input 3$/m)
    expect(stdout).not.toMatch(/^fast .*from 2027/m)
  })
})

describe('--from', () => {
  const showFrom = async (prices: object) => {
    const line = await written(config, prices)
    await line.prices('--write')
    return { text: line.read(), ...(await line.prices('--check')) }
  }

  test('reads the file of LiteLLM', async () => {
    const { text, code } = await showFrom({
      sample_spec: { litellm_provider: 'one of many', mode: 'chat' },
      'gpt-6.1-sol': {
        litellm_provider: 'openai',
        mode: 'chat',
        input_cost_per_token: 2e-6,
        output_cost_per_token: 1e-5,
        input_cost_per_token_above_272k_tokens: 4e-6,
        output_cost_per_token_above_272k_tokens: 1.5e-5,
        input_cost_per_token_priority: 4e-6,
        output_cost_per_token_priority: 2e-5,
        input_cost_per_token_above_272k_tokens_priority: 8e-6,
        output_cost_per_token_above_272k_tokens_priority: 3e-5,
      },
    })
    expect(code).toBe(0)
    expect(text).toContain(`  [[providers.models.prices]] # from the price table of LiteLLM
  above_input = 272000
  cost_per_1m_input = 4
  cost_per_1m_output = 15

  [[providers.models.prices]] # from the price table of LiteLLM
  tier = "priority"
  multiply = 2
`)
  })

  test('reads the file of models.dev, whose steps begin at their size', async () => {
    const { text, code } = await showFrom({
      openai: {
        models: {
          'gpt-6.1-sol': {
            id: 'gpt-6.1-sol',
            cost: {
              input: 2,
              output: 10,
              tiers: [{ tier: { type: 'context', size: 272_001 }, input: 4, output: 15 }],
            },
          },
        },
      },
    })
    expect(code).toBe(0)
    expect(text).toContain('above_input = 272000\n  cost_per_1m_input = 4\n')
  })

  test('reads the file of genai-prices', async () => {
    const { text, code } = await showFrom([
      {
        id: 'openai',
        models: [
          {
            id: 'sol',
            match: { or: [{ starts_with: 'gpt-6.1-sol' }] },
            prices: { input_mtok: { base: 2, tiers: [{ start: 272_000, price: 4 }] } },
          },
        ],
      },
    ])
    expect(code).toBe(0)
    expect(text).toContain('above_input = 272000\n  cost_per_1m_input = 4\n')
  })

  test.each([[{}], [[]], [{ a: { b: 1 } }], [{ date: 'today', models: [] }]])(
    'refuses %j',
    async (prices) => {
      const line = await written(config, prices)
      expect(await line.prices()).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('not a table of prices'),
      })
    },
  )

  test('a price that the configuration refuses is not written', async () => {
    const line = await written(config, table({ ...sol, cost_per_1m_input: -1 }))
    expect(await line.prices('--write')).toMatchObject({ code: 1 })
    expect(line.read()).toBe(config)
  })
})

describe('an edit of TOML', () => {
  const at = ['a', 0] as const
  const edit = (text: string) => editToml(text, [{ table: at, key: 'n', value: '7' }])

  test.each([
    ['[[a]]\nk = 1', '[[a]]\nk = 1\nn = 7'],
    ['[[a]]', '[[a]]\nn = 7'],
    ['[[a]]\nn=1', '[[a]]\nn=7'],
    ['[[a]]\r\nk = 1 # c\r\n[b]\r\n', '[[a]]\r\nk = 1 # c\r\nn = 7\r\n[b]\r\n'],
    ['\uFEFF[[a]]\nk = 1\n', '\uFEFF[[a]]\nk = 1\nn = 7\n'],
    ['[[a]]\nk = """\nx\n""" # c\n', '[[a]]\nk = """\nx\n""" # c\nn = 7\n'],
    ['a = [{ k = 1 }, {}]', 'a = [{ k = 1, n = 7 }, {}]'],
    ['[[a]]\n"n" = 1 # é 🙂\n', '[[a]]\n"n" = 7 # é 🙂\n'],
  ])('%j becomes %j', async (before, after) => {
    expect(await edit(before)).toBe(after)
  })

  test('a table that is not in the text is not edited', async () => {
    expect(await edit('[b]\nk = 1')).toBeUndefined()
  })
})

describe('marked tables of TOML', () => {
  const list = { parent: ['a', 0], key: 't' }
  const replace = (text: string) =>
    writeMarked(text, [{ ...list, comment: 'ours, new', tables: [[['n', '7']]] }], 'ours')

  test.each([
    ['[[a]]', '[[a]]\n\n[[a.t]] # ours, new\nn = 7'],
    ['[[a]]\nk = 1 # c\n\n[b]\n', '[[a]]\nk = 1 # c\n\n[[a.t]] # ours, new\nn = 7\n\n[b]\n'],
    [
      '[[a]]\nk = 1\n[a.sub]\nx = 1\n[b]\n',
      '[[a]]\nk = 1\n[a.sub]\nx = 1\n\n[[a.t]] # ours, new\nn = 7\n[b]\n',
    ],
    [
      '\uFEFF[[a]]\r\n  k = 1\r\n',
      '\uFEFF[[a]]\r\n  k = 1\r\n\r\n[[a.t]] # ours, new\r\nn = 7\r\n',
    ],
    [
      '[[a]]\n[[a.t]] # ours\nn = 1 # c\n# kept\n[[a.t]]\nn = 2\n\n[[a.t]]   #ours, too\n[b]\n',
      '[[a]]\n\n[[a.t]] # ours, new\nn = 7\n# kept\n[[a.t]]\nn = 2\n[b]\n',
    ],
    ['a = [{ k = 1 }]', 'a = [{ k = 1, t = [ # ours, new\n  { n = 7 }\n] }]'],
    [
      'a = [{ t = [ # ours\n {}, {} ], k = 1 }]',
      'a = [{ t = [ # ours, new\n  { n = 7 }\n], k = 1 }]',
    ],
    ['[[a]]\nt = [ # ours\n {} ]', '[[a]]\nt = [ # ours, new\n  { n = 7 }\n]'],
    ['[[a]]\nt = [{}]', undefined],
    ['a = [{ t = [{}] }]', undefined],
    ['a = [{}]', undefined],
    ['[b]', undefined],
  ])('%j becomes %j', async (before, after) => {
    expect(await replace(before)).toBe(after)
  })

  test('their positions count all tables of the list', async () => {
    const text = '[[a]]\n[[a.t]]\n[[a.t]] # ours\n[[a.t]] # not ours\n'
    expect(await findMarked(text, [list], 'ours')).toEqual([[1]])
    expect(await findMarked('a = [{ t = [{}, {}] }]', [list], 'ours')).toEqual([[]])
    expect(await findMarked('a = [{ t = [ # ours\n{}, {}] }]', [list], 'ours')).toEqual([[0, 1]])
  })
})
