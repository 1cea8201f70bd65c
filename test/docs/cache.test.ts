import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { createGateway } from '../../src/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { blocksOf, session } from './shell.ts'

/* Runs the examples of the page unchanged, against gateways with the configuration of the page. */

const page = 'docs/cache.md'
const masterKey = '3f'.repeat(32)

let host: Awaited<ReturnType<typeof serve>>
let printed: readonly string[]

beforeAll(async () => {
  const config = blocksOf(page).find(({ info }) => info === 'toml')?.text ?? ''
  const store = new MemoryStore()
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    env: { GATEWAY_MASTER_KEY: masterKey },
    config: `${config}\n[auth]\nenabled = true\n`,
    openStore: async () => store,
  })
  host = await serve(gateway, { port: 0 })
  const created = await fetch(`${host.address}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${masterKey}` },
    body: JSON.stringify({ name: 'docs' }),
  })
  const { key } = (await created.json()) as { key: string }
  printed = await session(page, {
    cwd: tmpdir(),
    address: host.address,
    env: { GATEWAY_MASTER_KEY: masterKey },
    replace: { "-d '{": `-H 'authorization: Bearer ${key}' -d '{` },
  })
})

afterAll(() => host?.close())

test('the second of two equal requests is a hit', () => {
  const shown = blocksOf(page).find(({ info }) => info === 'text')?.text
  expect(printed[0]?.trim()).toBe(shown?.trim())
})

test('emptying the cache answers how many entries went', () => {
  const shown = blocksOf(page).find(({ info }) => info === 'json')?.text ?? ''
  expect(JSON.parse(printed[1] ?? '')).toEqual(JSON.parse(shown))
})
