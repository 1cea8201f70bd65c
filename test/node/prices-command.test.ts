import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { editToml } from '../../adapters/node/toml-edit.ts'
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
