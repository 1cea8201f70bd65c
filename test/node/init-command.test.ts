import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { wellKnown } from '../../adapters/node/config/well-known.ts'
import { checkConfig } from '../../src/index.ts'
import { runCommand, setVariables } from './support/cli.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const names = wellKnown.flatMap(({ variables }) => variables)
  setVariables(Object.fromEntries(names.map((name) => [name, undefined])))
})

const path = () => join(folder, 'config.toml')

describe('init', () => {
  test('writes a provider for each known variable that is set, and no key', async () => {
    setVariables({ OPENAI_API_KEY: 'sk-secret', GOOGLE_API_KEY: 'secret too', XAI_API_KEY: ' ' })
    const { code, stdout } = await runCommand('init', '--config', path())
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `wrote ${path()} with openai (OPENAI_API_KEY), google (GOOGLE_API_KEY)\nstart it with: gateway --config ${path()}\n`,
    })
    const text = readFileSync(path(), 'utf8')
    expect(text).not.toContain('secret')
    expect(await checkConfig(text, process.env)).toMatchObject({
      ok: true,
      overview: {
        providers: [
          { name: 'openai', credential: 'present' },
          { name: 'google', credential: 'present' },
        ],
      },
    })
    expect(text).toMatch(/^# {3}XAI_API_KEY$/m)
    expect(text).not.toMatch(/^# {3}OPENAI_API_KEY$/m)
  })

  test('every known variable leads to a valid provider, all of them together', async () => {
    setVariables(Object.fromEntries(wellKnown.map(({ variables: [name] }) => [name, 'a key'])))
    await runCommand('init', '--config', path())
    const verdict = await checkConfig(readFileSync(path(), 'utf8'), process.env)
    expect(verdict).toMatchObject({ ok: true, overview: { warnings: [] } })
  })

  test('the models have the prices of the table', async () => {
    setVariables(Object.fromEntries(wellKnown.map(({ variables: [name] }) => [name, 'a key'])))
    await runCommand('init', '--config', path())
    const { code, stdout } = await runCommand('prices', '--check', '--config', path())
    expect(code).toBe(0)
    // What this model costs depends on the one to which the vendor sends a request.
    expect(stdout).toMatch(/^not in the table: openrouter-auto$/m)
  })

  test('without a known variable it writes the demo provider, which serves', async () => {
    expect((await runCommand('init', '--config', path())).stdout).toContain('the demo provider')
    expect(await checkConfig(readFileSync(path(), 'utf8'), {})).toMatchObject({
      ok: true,
      overview: { providers: [{ kind: 'demo' }] },
    })
  })

  test('an existing file stays, unless --force is given', async () => {
    writeFileSync(path(), 'mine')
    expect(await runCommand('init', '--config', path())).toMatchObject({
      code: 2,
      stderr: `${path()}: exists; replace it with --force\n`,
    })
    expect(readFileSync(path(), 'utf8')).toBe('mine')
    expect(await runCommand('init', '--config', path(), '--force')).toMatchObject({ code: 0 })
    expect(readFileSync(path(), 'utf8')).toContain('[[providers]]')
  })

  test('a folder that does not exist ends with 1', async () => {
    const missing = join(folder, 'missing', 'config.toml')
    expect(await runCommand('init', '--config', missing)).toMatchObject({
      code: 1,
      stderr: `${missing}: cannot be written (ENOENT)\n`,
    })
  })
})

describe('without a file', () => {
  test('the error names the keys that are set, and the two ways to use them', async () => {
    if (existsSync('config.toml')) throw new Error('the test needs a folder without config.toml')
    setVariables({ OPENAI_API_KEY: 'sk-secret' })
    const { code, stderr } = await runCommand('--check-config')
    expect(code).toBe(2)
    expect(stderr).toMatch(/^config\.toml: no such file.*\nset: OPENAI_API_KEY; .*init.*--auto/)
    expect(stderr).not.toContain('secret')
  })

  test('--auto serves the known providers', async () => {
    setVariables({ OPENAI_API_KEY: 'sk-secret' })
    const { code, stdout } = await runCommand('--auto', '--check-config')
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^the configuration of --auto is valid: 1 provider, 4 models/),
    })
  })

  test('--auto without a known key, and with --config, is bad usage', async () => {
    expect(await runCommand('--auto', '--check-config')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^--auto: there is no config\.toml, and none of OPENAI_API_KEY/,
      ),
    })
    expect(await runCommand('--auto', '--config', path())).toMatchObject({
      code: 2,
      stderr: "option '--auto' cannot be used with option '--config'\n",
    })
  })
})
