import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { built, type Command, command } from './support/command.ts'
import { freePort } from './support/shipped-gateway.ts'

const run = promisify(execFile)

const masterKey = '6d'.repeat(32)

/** The demo, and the command lines that it prints at its start. */
async function demo(env: Record<string, string> = {}, tries = 3): Promise<Started> {
  const port = String(await freePort())
  const child = command([built.executable, '--demo', '--port', port], { env })
  const invitation =
    /Try the demo.*?\n\n(.*?)\n\nNext, write a config.toml.*?\n\n(.*"gpt-4o-mini"\n)/s
  try {
    const [, commands = '', config = ''] = await child.until(invitation)
    return { child, commands: commands.replaceAll(/^ {2}/gm, ''), config }
  } catch (error) {
    // Another test was faster.
    if (tries > 1 && child.output.stderr.includes('the port is in use')) return demo(env, tries - 1)
    throw error
  }
}

interface Started {
  readonly child: Command
  readonly commands: string
  readonly config: string
}

/** What a shell prints for these lines, each by itself but in one session. */
async function printed(lines: string, env: Record<string, string> = {}): Promise<string[]> {
  const mark = '--- next'
  const script = lines.split('\n').join(`\necho; echo '${mark}'\n`)
  const options = { env: { PATH: process.env['PATH'] ?? '', ...env } }
  const { stdout } = await run('bash', ['-e', '-c', script], options)
  return stdout.split(`${mark}\n`)
}

const warned = ({ output }: Command) => output.stdout.includes('"level":"warn"')

test('the commands that the demo prints work unchanged', async () => {
  const { child, commands } = await demo({ GATEWAY_LOG_FORMAT: 'json' })
  const [models, whole, stream, metrics] = await printed(commands)
  expect(models).toContain('"id":"demo"')
  expect(whole).toContain('You said: Hello')
  expect(stream).toContain('data: [DONE]')
  expect(metrics).toContain('gateway_tokens_total')
  expect(warned(child)).toBe(false)
})

test('with auth enabled the printed commands create a key and use it, and its spend is counted', async () => {
  const { child, commands } = await demo({
    GATEWAY_LOG_FORMAT: 'json',
    GATEWAY_AUTH__ENABLED: 'true',
    GATEWAY_AUTH__USAGE_FLUSH_MS: '1',
    GATEWAY_MASTER_KEY: masterKey,
  })
  const patient = commands.replace(/^(curl .*\/admin\/usage)/m, 'sleep 1; $1')
  const env = { GATEWAY_MASTER_KEY: masterKey }
  const [key, models, whole, stream, usage, metrics] = await printed(patient, env)
  expect(key?.trim()).toBe('')
  expect(models).toContain('"id":"demo"')
  expect(whole).toContain('You said: Hello')
  expect(stream).toContain('data: [DONE]')
  // Twice 1 token in at 2.5 and 11 tokens out at 10 dollars a million.
  expect(usage).toContain('"cost":0.000225')
  expect(metrics).toContain('gateway_tokens_total')
  expect(warned(child)).toBe(false)
})

test('the configuration that the demo prints is valid', async () => {
  const { config } = await demo()
  const verdict = await checkConfig(config, { OPENAI_API_KEY: 'x' })
  expect(verdict).toMatchObject({ ok: true, overview: { warnings: [], models: 1 } })
})
