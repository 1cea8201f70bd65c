import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { createGateway } from '../../src/index.ts'
import { blocksOf } from './shell.ts'

/* Runs the examples of the Responses API, and sends a request with the settings of Codex. */

let host: Awaited<ReturnType<typeof serve>>

beforeAll(async () => {
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    env: {},
    config: readFileSync('demo.toml', 'utf8'),
  })
  host = await serve(gateway, { port: 0 })
})

afterAll(() => host?.close())

test('the example of the page prints a response', async () => {
  const block = blocksOf('docs/vendor-apis.md').find(({ text }) => text.includes('/v1/responses'))
  const command = (block?.text ?? '').replace('http://127.0.0.1:8080', host.address)
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: tmpdir() })
  expect(JSON.parse(stdout)).toMatchObject({ object: 'response', status: 'completed' })
})

test('the settings of Codex lead to the Responses API of the gateway', async () => {
  const block = blocksOf('docs/clients.md').find(({ text }) => text.includes('wire_api'))
  const settings = parse(block?.text ?? '')
  expect(settings).toMatchObject({
    model_provider: 'gateway',
    model_providers: { gateway: { wire_api: 'responses', env_key: 'GATEWAY_KEY' } },
  })
  // The assertion above has checked the form.
  const { base_url: base } = (settings['model_providers'] as { gateway: { base_url: string } })
    .gateway
  const response = await fetch(`${base.replace('http://127.0.0.1:8080', host.address)}/responses`, {
    method: 'POST',
    body: JSON.stringify({ model: settings['model'], input: 'Hello!', stream: true }),
  })
  expect(await response.text()).toContain('event: response.completed')
})
