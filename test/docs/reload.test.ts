import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { nodeConfigFile } from '../../adapters/node/ports/config-file.ts'
import { configSchema } from '../../src/config/schema.ts'
import { createGateway } from '../../src/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { blocksOf, session } from './shell.ts'

/* Runs the examples of the page unchanged, as one shell session, and checks that its lists of settings are complete. */

const page = 'docs/reload.md'
const masterKey = '3f'.repeat(32)
const folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
const path = join(folder, 'served.toml')
const config = `[auth]
enabled = true
[[providers]]
name = "openai"
kind = "openai"
[[providers.models]]
id = "before"
`
const store = new MemoryStore()

let host: Awaited<ReturnType<typeof serve>>
let printed: readonly string[]

beforeAll(async () => {
  writeFileSync(path, config)
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    env: { GATEWAY_MASTER_KEY: masterKey },
    config,
    configFile: nodeConfigFile(path),
    openStore: async () => store,
  })
  host = await serve(gateway, { port: 0 })
  if (!hasTools()) return
  printed = await session(page, {
    cwd: folder,
    address: host.address,
    env: { GATEWAY_MASTER_KEY: masterKey, EDITOR: 'sed -i.old s/before/after/' },
  })
})

afterAll(async () => {
  await host?.close()
  rmSync(folder, { recursive: true })
})

describe.runIf(hasTools())('the examples', () => {
  test('show the file with its hash, in the fields that the page shows', () => {
    const shown = JSON.parse(blocksOf(page).find(({ info }) => info === 'json')?.text ?? '')
    const answer = JSON.parse(printed[0] ?? '')
    expect(Object.keys(answer)).toEqual(Object.keys(shown))
    expect(answer).toEqual({ config, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  test('replace the file and keep the previous one as .bak', () => {
    expect(printed[1]).toMatch(/^HTTP\/1.1 204 /)
    expect(printed[1]).toMatch(/^etag: "[0-9a-f]{64}"\r$/im)
    expect(readFileSync(path, 'utf8')).toBe(config.replace('before', 'after'))
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(config)
  })

  test('store a provider key and delete it', async () => {
    expect(printed[2]?.match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 204'])
    expect(store.calls).toEqual(expect.arrayContaining(['putSealed', 'deleteSealed']))
    expect(await store.readSealed('provider-key')).toEqual([])
  })
})

test('the page lists every setting exactly once: changed at once, or after a restart', () => {
  const text = readFileSync(page, 'utf8')
  const [atOnce = '', later = ''] = text
    .slice(text.indexOf('## What changes at once'), text.indexOf('## When the new'))
    .split('## What waits for a restart')
  const settings = Object.entries(configSchema.shape).flatMap(([table, schema]) => {
    const fields = fieldsOf(schema)
    return fields.length === 0 ? [table] : fields.map((field) => `${table}.${field}`)
  })
  expect(settings).toContain('server.port')
  // The page names these tables as a whole.
  const inWords = /^(providers|routes|resilience|tokenizer|cache|image_fetch|webhooks)\b/
  const wrong = settings.filter((setting) => {
    const isAtOnce = inWords.test(setting) || atOnce.includes(`\`${setting}\``)
    return isAtOnce === later.includes(`\`${setting}\``)
  })
  expect(wrong).toEqual([])
})

/** Returns the names of the fields in a table of the schema. */
function fieldsOf(schema: object): readonly string[] {
  const { shape, def } = schema as { shape?: object; def?: { innerType?: object } }
  if (shape) return Object.keys(shape)
  return def?.innerType ? fieldsOf(def.innerType) : []
}

function hasTools(): boolean {
  try {
    execFileSync('bash', ['-c', 'command -v curl jq sed'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
