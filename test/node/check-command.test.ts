import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CommandLine, commandLine } from './support/cli.ts'

/** Turns auth off, and adds a provider at which nothing listens. */
function change({ config }: CommandLine): void {
  const text = readFileSync(config, 'utf8').replace('enabled = true', 'enabled = false')
  const closed = `
[[providers]]
name = "closed"
kind = "vllm"
base_url = "http://127.0.0.1:9/v1"
[[providers.models]]
id = "closed-model"
`
  writeFileSync(config, text + closed)
}

test('the command asks every provider of a running gateway', async () => {
  const line = await commandLine()
  await line.serve()
  const { code, stdout } = await line.run('check')
  expect(stdout).toMatch(
    /^demo demo\n {2}no credential {2}works: first token after \d+ ms, \$[\d.]+\n$/,
  )
  expect(code).toBe(0)
})

test('with auth off it sends the requests itself, and fails for a provider that it cannot reach', async () => {
  const line = await commandLine()
  change(line)
  const { code, stdout } = await line.run('check')
  expect(stdout).toMatch(/^demo demo\n.*works.*\nclosed closed-model\n.*not reached: LM-3003 /)
  expect(code).toBe(1)
  expect((await line.run('check', 'demo')).code).toBe(0)
})

test.each([
  ['a running gateway', 'enabled = true'],
  ['this process', 'enabled = false'],
])('%s asks the others beside a provider that has only patterns', async (_, auth) => {
  const line = await commandLine()
  const patterns = `
[[providers]]
name = "a"
kind = "vllm"
base_url = "http://127.0.0.1:9/v1"
[[providers.models]]
id = "a/*"
`
  const text = readFileSync(line.config, 'utf8').replace('enabled = true', auth)
  writeFileSync(line.config, text.replace('[[providers]]', `${patterns}[[providers]]`))
  if (auth === 'enabled = true') await line.serve()
  const { code, stdout } = await line.run('check')
  expect(stdout).toMatch(/^a\n {2}not checked: model: is required, .*patterns\ndemo demo\n.*works/)
  expect(code).toBe(0)
  const answers = (await line.json('check')) as unknown as object[]
  expect(answers).toMatchObject([{ provider: 'a', model: null }, { model: 'demo' }])
  expect((await line.run('check', 'a')).code).toBe(2)
})

test('--json prints the answer for one provider and one model', async () => {
  const line = await commandLine()
  await line.serve()
  const [answer] = (await line.json('check', 'demo', '--model', 'demo')) as unknown as object[]
  expect(answer).toMatchObject({ provider: 'demo', credentials: [{ authenticated: true }] })
})

test.each([
  [['check', 'nothing'], 'no provider with this name is configured'],
  [['check', 'demo', '--model', 'x'], 'provider demo has no such model'],
  [['check', '--model', 'x'], '--model needs the name of a provider'],
])('refuses %j', async (command, message) => {
  const line = await commandLine()
  await line.serve()
  const { code, stderr } = await line.run(...command)
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})
