import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { checkConfig, createGateway, type Gateway } from '../../src/index.ts'

/*
 * Runs every example about keys and usage unchanged: the blocks that begin with `curl`, in their order.
 * The fence names the status of the answer unless it is 200; the JSON block that follows shows the
 * fields of the answer. A fence with the word `file` needs a configuration file, so it is not run.
 */

const shell = promisify(execFile)
const masterKey = '3f'.repeat(32)
const folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))

let gateway: Gateway
let host: Awaited<ReturnType<typeof serve>>
/** The variables of the examples. */
const variables: Record<string, string> = {
  PATH: process.env['PATH'] ?? '',
  GATEWAY_MASTER_KEY: masterKey,
  MASTER: `Authorization: Bearer ${masterKey}`,
}

beforeAll(async () => {
  const env = {
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_MASTER_KEY: masterKey,
    GATEWAY_AUTH__DB_PATH: join(folder, 'gateway.db'),
    GATEWAY_AUTH__USAGE_FLUSH_MS: '20',
  }
  gateway = await createGateway({ ...nodePorts(env), config: firstConfig() })
  host = await serve(gateway, { port: 0 })
  variables['GATEWAY'] = host.address
})

afterAll(async () => {
  await host?.close()
  rmSync(folder, { recursive: true })
})

test('the first configuration is valid and causes no warning', async () => {
  expect(await checkConfig(firstConfig(), {})).toMatchObject({
    ok: true,
    overview: { warnings: [] },
  })
})

const pages = ['docs/keys.md', 'docs/admin-api.md', 'docs/models.md', 'README.md']

describe.each(pages)('%s', (page) => {
  for (const example of examplesOf(page)) {
    test(example.command, () => expectExample(example))
  }
})

test('a request over its budget is answered with the error that the page shows', async () => {
  const { key } = await created({ name: 'poor', budget_max: 0 })
  const answer = await call('/v1/chat/completions', key, { method: 'POST', body: chat })
  expect(answer.status).toBe(402)
  expectShape(await answer.json(), JSON.parse(blockOf('docs/keys.md', 'json error')))
})

describe('docs/usage.md', () => {
  beforeAll(async () => {
    const { id, key } = await created({ name: 'busy' })
    variables['KEY_ID'] = id
    const headers = { 'x-gateway-metadata': '{"team":"search"}' }
    for (let i = 0; i < 3; i++) {
      await (
        await call('/v1/chat/completions', key, { method: 'POST', body: chat, headers })
      ).text()
    }
    await vi.waitFor(async () => {
      if ((await usageOf(id))[0]?.requests !== 3) throw new Error('rows are missing')
    })
  })

  for (const example of examplesOf('docs/usage.md')) {
    test(example.command, () => expectExample(example))
  }

  test('the export program prints a line for every row', async () => {
    const args = ['--input-type=module', '--eval', blockOf('docs/usage.md', 'js')]
    const { stdout } = await shell(process.execPath, args, { env: variables })
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.filter(({ key_id: id }) => id === variables['KEY_ID'])).toHaveLength(3)
  })
})

const chat = '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'

interface Block {
  /** The text after the opening fence. */
  readonly info: string
  readonly text: string
}

interface Example {
  readonly command: string
  readonly status: number
  /** The JSON answer that the page shows; undefined without one. */
  readonly answer: string | undefined
}

function firstConfig(): string {
  return blockOf('docs/keys.md', 'toml')
}

function blockOf(page: string, fence: string): string {
  return blocksOf(page).find(({ info }) => info === fence)?.text ?? ''
}

function blocksOf(page: string): readonly Block[] {
  const fences = readFileSync(page, 'utf8').matchAll(/^```(.+)\n([^]*?)^```$/gm)
  return [...fences].map(([, info = '', text = '']) => ({ info, text }))
}

function examplesOf(page: string): readonly Example[] {
  const blocks = blocksOf(page)
  return blocks.flatMap(({ info, text }, at) => {
    const [language, ...words] = info.split(' ')
    const isMeant = page === 'README.md' ? words.includes('keys') : !words.includes('file')
    if (language !== 'sh' || !text.startsWith('curl') || !isMeant) return []
    const next = blocks[at + 1]
    return {
      command: text.trimEnd(),
      status: Number(words.find((word) => /^\d+$/.test(word)) ?? 200),
      answer: next?.info === 'json' ? next.text : undefined,
    }
  })
}

async function expectExample({ command, status, answer }: Example): Promise<void> {
  const here = command.replaceAll('http://127.0.0.1:8080', host.address)
  // The status is on a separate line after the answer.
  const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${here}`
  const { stdout } = await shell('sh', ['-c', script], { env: variables })
  const end = stdout.lastIndexOf('\n')
  const [body, code] = [stdout.slice(0, end), Number(stdout.slice(end))]
  expect({ code, body }).toMatchObject({ code: status })
  if (body !== '') remember(JSON.parse(body))
  if (answer !== undefined) expectShape(JSON.parse(body), JSON.parse(answer))
}

/** Keeps the ids and secrets of created records for later examples. */
function remember(answer: Readonly<Record<string, unknown>>): void {
  const { id, key } = answer
  if (typeof id !== 'string') return
  if (typeof key === 'string') Object.assign(variables, { KEY: key, KEY_ID: id })
  else if ('name' in answer && !('group_id' in answer)) variables['GROUP_ID'] = id
}

/** Expects the same fields in the same order, with values of the same type; null matches every value. */
function expectShape(actual: unknown, shown: unknown): void {
  expect(shapeOf(actual, shown)).toEqual(shapeOf(shown, actual))
}

function shapeOf(value: unknown, other: unknown): unknown {
  if (value === null || other === null) return 'anything'
  if (Array.isArray(value)) {
    return value.slice(0, 1).map((entry) => shapeOf(entry, Array.isArray(other) ? other[0] : entry))
  }
  if (typeof value !== 'object') return typeof value
  return Object.entries(value).map(([name, field]) => [
    name,
    // The client chooses the fields of its metadata.
    name === 'metadata' ? typeof field : shapeOf(field, Reflect.get(Object(other), name) ?? null),
  ])
}

function call(path: string, key: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${key}` }
  return fetch(`${host.address}${path}`, { ...init, headers })
}

async function created(fields: object): Promise<{ readonly id: string; readonly key: string }> {
  const init = { method: 'POST', body: JSON.stringify(fields) }
  return (await call('/admin/keys', masterKey, init)).json()
}

async function usageOf(keyId: string) {
  const query = `key_id=${keyId}&group_by=total`
  const { groups } = await (await call(`/admin/usage?${query}`, masterKey)).json()
  return groups
}
