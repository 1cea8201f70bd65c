import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { comparePrices } from '../../adapters/node/config/price-catalogue.ts'
import { editToml } from '../../adapters/node/config/toml-edit.ts'
import { commandLine } from './support/cli.ts'

const config = `# my gateway
[[providers]]
name = "openai"   # the vendor
kind = "openai"
api_key_env = "OPENAI_API_KEY"

  [[providers.models]]
  id = "fast"                      # what clients ask for
  upstream_id = "gpt-4o-mini"
  cost_per_1m_input = 9.99         # an old price

[[providers]]
name = "claude"
kind = "anthropic"
models = [{ id = "claude-haiku-4-5" }, { id = "unheard-of" }]

[[providers]]
name = "own"
kind = "vllm"
base_url = "http://127.0.0.1:8000/v1"
models = [{ id = "gpt-4o" }]
`

async function written(text = config) {
  const line = await commandLine()
  writeFileSync(line.config, text)
  return line
}

describe('prices', () => {
  test('shows the prices that differ, and the models that the catalogue does not know', async () => {
    const line = await written()
    const { stdout } = await line.run('prices')
    expect(stdout).toMatch(/^fast +openai +cost_per_1m_input +9\.99 +0\.15$/m)
    expect(stdout).toMatch(/^fast +openai +cost_per_1m_output +none +0\.6$/m)
    expect(stdout).toMatch(/^claude-haiku-4-5 +claude +cost_per_1m_cache_write +none +1\.25$/m)
    expect(stdout).toMatch(/^not in the catalogue: unheard-of, gpt-4o$/m)
    expect(readFileSync(line.config, 'utf8')).toBe(config)
  })

  test('--write keeps comments and layout, and leaves nothing to do', async () => {
    const line = await written()
    const { code, stdout } = await line.run('prices', '--write')
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/wrote .*\n$/),
    })
    expect(readFileSync(line.config, 'utf8')).toBe(
      config
        .replace(
          '9.99         # an old price',
          '0.15         # an old price\n  cost_per_1m_output = 0.6\n  cost_per_1m_cached_input = 0.075',
        )
        .replace(
          '{ id = "claude-haiku-4-5" }',
          '{ id = "claude-haiku-4-5", cost_per_1m_input = 1, cost_per_1m_output = 5, cost_per_1m_cached_input = 0.1, cost_per_1m_cache_write = 1.25, cost_per_1m_cache_write_1h = 2 }',
        ),
    )
    expect(readFileSync(`${line.config}.bak`, 'utf8')).toBe(config)
    expect((await line.run('prices')).stdout).toMatch(/^no price differs\n/)
  })

  test('--only-missing leaves the prices of the file', async () => {
    const line = await written()
    await line.run('prices', '--write', '--only-missing')
    const text = readFileSync(line.config, 'utf8')
    expect(text).toContain('cost_per_1m_input = 9.99')
    expect(text).toContain('cost_per_1m_output = 0.6')
  })

  test('--json lists the changes', async () => {
    const line = await written()
    expect(await line.json('prices')).toMatchObject({
      changes: expect.arrayContaining([
        expect.objectContaining({
          model: 'fast',
          field: 'cost_per_1m_input',
          before: 9.99,
          after: 0.15,
        }),
      ]),
      unknown: ['unheard-of', 'gpt-4o'],
    })
  })

  test('an invalid file is bad usage, and stays as it is', async () => {
    const line = await written('[servr]')
    expect(await line.run('prices', '--write')).toMatchObject({ code: 2 })
    expect(readFileSync(line.config, 'utf8')).toBe('[servr]')
  })
})

describe('prices that differ by time', () => {
  const models = (kind: string, ...ids: readonly string[]) => ({
    name: kind,
    kind,
    models: ids.map((id) => ({ id, capabilities: ['chat'] })),
  })
  const compare = (day: string, ...providers: readonly object[]) =>
    comparePrices({ providers } as unknown as Parameters<typeof comparePrices>[0], day)
  const pricesOf = async (day: string, kind: string, id: string) => {
    const { changes } = await compare(day, models(kind, id))
    return Object.fromEntries(changes.map(({ field, after }) => [field, after]))
  }

  test('the highest price of the day counts, and is marked', async () => {
    const { changes } = await compare('2026-11-27', models('deepseek', 'deepseek-v4-pro'))
    expect(changes).toMatchObject([
      { field: 'cost_per_1m_input', after: 1.32, isPeak: true },
      { field: 'cost_per_1m_output', after: 3.96, isPeak: true },
      { field: 'cost_per_1m_cached_input', after: 0.044, isPeak: true },
    ])
  })

  test('the hour at which the command runs makes no difference', async () => {
    const line = await written(`[[providers]]
name = "deepseek"
kind = "deepseek"
models = [{ id = "deepseek-v4-pro" }, { id = "deepseek-reasoner" }]

[[providers]]
name = "google"
kind = "google"
models = [{ id = "gemini-3.8-flash" }]
`)
    onTestFinished(() => void vi.useRealTimers())
    const outputs = new Set<string>()
    for (let hour = 0; hour < 24; hour++) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 27, hour, 30) })
      outputs.add((await line.run('prices')).stdout)
    }
    expect(outputs.size).toBe(1)
    const [output] = outputs
    expect(output).toMatch(/cost_per_1m_input +none +1\.32 +lower at other times of the day$/m)
    expect(output).toMatch(
      /^from 2027-01-01 on, gemini-3\.8-flash at google: cost_per_1m_input = 1\.5, /m,
    )
  })

  test('a price that is known for a later date is announced, and holds from that day on', async () => {
    const google = models('google', 'gemini-3.8-flash')
    expect(await pricesOf('2026-12-31', 'google', 'gemini-3.8-flash')).toMatchObject({
      cost_per_1m_input: 0.75,
      cost_per_1m_output: 3.75,
    })
    expect((await compare('2026-12-31', google)).upcoming).toEqual([
      {
        provider: 'google',
        model: 'gemini-3.8-flash',
        from: '2027-01-01',
        prices: {
          cost_per_1m_input: 1.5,
          cost_per_1m_output: 7.5,
          cost_per_1m_cached_input: 0.15,
        },
      },
    ])
    const later = await compare('2027-01-01', google)
    expect(later.upcoming).toEqual([])
    expect(later.changes).toMatchObject([{ after: 1.5 }, { after: 7.5 }, { after: 0.15 }])
  })
})

describe('an edit of TOML', () => {
  const table = ['a', 0] as const
  const edit = (text: string) => editToml(text, [{ table, key: 'n', value: '7' }])

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
