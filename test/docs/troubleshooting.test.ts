import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorTable } from '../../src/core/errors.ts'
import { keyedGateway, pricedProvider } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/* Whether docs/troubleshooting.md has every error code, with messages that the gateway really writes. */

const page = readFileSync('docs/troubleshooting.md', 'utf8')

interface Row {
  readonly code: string
  readonly message: string
}

const escape = (text: string) => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')

/** The rows of the tables whose first column is an error code. */
const rows: readonly Row[] = Array.from(
  page.matchAll(/^\| (LM-\d{4}) \| (.+?) \| .+ \|$/gm),
  ([, code = '', message = '']) => ({ code, message }),
)

/** The messages and lines that the page quotes in the first column of a table. */
const quoted = [
  ...rows.map(({ message }) => message),
  ...page
    .split(/^## (?=Lines of the log|The gateway does not start)/m)
    .slice(1)
    .flatMap((section) =>
      Array.from(section.matchAll(/^\| (`.+?`) \|/gm), ([, cell = '']) => cell),
    ),
].flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text))

const sources = ['src', 'adapters']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:mjs|ts)$/.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8')),
  )
  .join('\n')
  // Texts that continue on the next line.
  .replace(/(['`]) \+\s+\1/g, '')

test('every error code has a row', () => {
  const codes = new Set(rows.map(({ code }) => code))
  expect([...codes].toSorted()).toEqual(Object.keys(errorTable))
})

test.each(quoted)('the source has the message: %s', (message) => {
  const parts = message.split('…').filter((part) => part.trim() !== '')
  expect(parts.filter((part) => !sources.includes(part.trim()))).toEqual([])
})

describe('a message of the page is what the client gets', () => {
  const unrepeated = `${pricedProvider}\n[resilience]\nretry_max_attempts = 1\n`
  const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 }

  /** Expects an answer whose message is in a row of its code. */
  function expectRow({ status, body }: { readonly status: number; readonly body: object }): void {
    expect(status).toBeGreaterThanOrEqual(400)
    const { code, message } = Reflect.get(body, 'error') as Row
    const patterns = rows
      .filter((row) => row.code === code)
      .map((row) => row.message.slice(1, -1).split('…').map(escape).join('.+'))
    expect(message).toMatch(new RegExp(`^(?:${patterns.join('|')})`))
  }

  test.each<[what: string, fields: object]>([
    ['a budget that is spent', { budget_max: 0 }],
    ['a budget below the request', { budget_max: 0.000001 }],
    ['a model that is not allowed', { models: ['other'] }],
    ['tokens beyond the limit', { tpm_limit: 1 }],
  ])('%s', async (_, fields) => {
    const gateway = await keyedGateway()
    expectRow(await gateway.ask(await gateway.key(fields), chat))
  })

  test('a second request of a minute with one', async () => {
    const gateway = await keyedGateway(unrepeated)
    gateway.upstream.always(json({ choices: [] }))
    const key = await gateway.key({ rpm_limit: 1 })
    await gateway.ask(key, chat)
    expectRow(await gateway.ask(key, chat))
  })

  test('an unknown key, model and path', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    const unknown = { ...key, headers: { authorization: 'Bearer sk-unknown' } }
    expectRow(await gateway.ask(unknown, chat))
    expectRow(await gateway.ask(key, { ...chat, model: 'another' }))
    expectRow(await gateway.ask(key, chat, '/chat'))
    expectRow(await gateway.ask(key, { model: 'm', input: 'Hi' }, '/v1/embeddings'))
  })

  test.each([401, 408, 429, 500])('a provider that answers %i', async (status) => {
    const gateway = await keyedGateway(unrepeated)
    gateway.upstream.always(json({ error: { message: 'no' } }, { status }))
    expectRow(await gateway.ask(await gateway.key(), chat))
  })

  test('a provider without a credential', async () => {
    const gateway = await keyedGateway(unrepeated, {
      env: { GATEWAY_MASTER_KEY: '5e'.repeat(32) },
    })
    expectRow(await gateway.ask(await gateway.key(), chat))
  })
})
