import { describe, expect, test } from 'vitest'
import {
  pageSchema,
  renderDetails,
  renderRequests,
} from '../../adapters/node/commands/requests-text.ts'
import { plain } from '../../adapters/node/output/style.ts'
import { commandLine } from './support/cli.ts'

const start = 1_795_824_000
const key = 'ab'.repeat(16)

const served = {
  id: 'u1',
  ts: start,
  request_id: 'first',
  key_id: key,
  api: 'chat',
  stream: true,
  model: 'gpt-5',
  model_used: 'backup',
  provider: 'azure',
  status: 200,
  error_code: null,
  reason: null,
  latency_ms: 1_250,
  ttft_ms: 90,
  queued_ms: 40,
  tokens_in: 1_000,
  tokens_out: 20,
  cost: 0.0125,
  cache_hit: false,
  attempts: 3,
  failed: [
    { model: 'gpt-5', provider: 'openai', reason: 'answered with status 503', attempts: 2 },
    { model: 'small', provider: 'local', reason: 'has an open circuit', attempts: 0 },
  ],
  count: 1,
}

const refused = {
  ...served,
  id: 'r1',
  ts: start + 61,
  request_id: 'second',
  key_id: null,
  stream: false,
  model: null,
  model_used: null,
  provider: null,
  status: 401,
  error_code: 'LM-4004',
  reason: 'the API key is missing or not valid',
  queued_ms: null,
  tokens_in: null,
  tokens_out: null,
  cost: 0,
  attempts: 0,
  failed: [],
  count: 1_041,
}

const page = { since: start, until: start + 120, rows: [refused, served], next_cursor: null }
const view = { style: plain, isTerminal: true, names: new Map([[key, 'team']]) }

describe('the text', () => {
  test('the table has each request with its key, who served, and why it failed', async () => {
    expect(await renderRequests(pageSchema.parse(page), view)).toBe(
      `
Requests from 2026-11-28 00:00Z to 2026-11-28 00:02Z, the newest first

TIME                  STATUS                  MODEL  SERVED BY        KEY            REQUEST  WHY
2026-11-28 00:01:01Z  401     LM-4004 ×1,041  -      -                -              second   the API key is missing or not valid
2026-11-28 00:00:00Z  200                     gpt-5  backup at azure  team abababab  first    gpt-5 at openai answered with status 503, 2 attempts; small at local has an open circuit
`.trim(),
    )
  })

  test('a pipe gets whole ids of keys, and a page with older ones says so', async () => {
    const text = await renderRequests(pageSchema.parse({ ...page, next_cursor: '1.0' }), {
      ...view,
      isTerminal: false,
    })
    expect(text).toContain(`team ${key} `)
    expect(text).toMatch(/there are older ones; --limit shows them$/)
  })

  test('no request is said so', async () => {
    expect(await renderRequests(pageSchema.parse({ ...page, rows: [] }), view)).toMatch(/: none$/)
  })

  test('all that is known of a request has a line for each fact', () => {
    const { rows } = pageSchema.parse(page)
    expect(renderDetails(rows.slice(1), view)).toBe(
      `
request    first
time       2026-11-28 00:00:00Z
status     200
failed     gpt-5 at openai answered with status 503, 2 attempts
failed     small at local has an open circuit
model      gpt-5
served by  backup at azure
key        team abababab
api        chat, streamed
took       1,250 ms
waited     40 ms for room
calls      3
tokens     1,000 in, 20 out
cost       $0.0125
`.trim(),
    )
    expect(renderDetails(rows.slice(0, 1), view)).toMatch(
      /^reason +the API key is missing or not valid$/m,
    )
  })
})

test('the command finds the requests of a running gateway, and of its database afterwards', async () => {
  const line = await commandLine()
  const serving = await line.serve()
  const created = await line.json('keys', 'create', '--name', 'team')
  const id = String(created['id'])
  const ask = async (secret: unknown, model: string, name: string) => {
    const response = await fetch(`${serving.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-request-id': name },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await response.text()
  }
  await ask(created['key'], 'demo', 'served')
  await ask(created['key'], 'demmo', 'unknown')
  await ask('sk-wrong', 'demo', 'stranger')
  const names = async (...args: readonly string[]) => {
    const { rows } = await line.json('requests', ...args)
    return (rows as { request_id: string }[]).map(({ request_id: name }) => name)
  }
  expect((await names()).toSorted()).toEqual(['served', 'stranger', 'unknown'])
  expect((await names('--failed', '--since', '10m')).toSorted()).toEqual(['stranger', 'unknown'])
  for (const text of ['team', id, id.slice(0, 6)]) {
    expect(await names('--key', text, '--failed')).toEqual(['unknown'])
  }
  expect(await names('--model', 'demmo')).toEqual(['unknown'])
  expect(await names('--provider', 'demo')).toEqual(['served'])
  expect(await names('--status', '401')).toEqual(['stranger'])
  expect(await names('--status', '4xx', '--code', 'LM-2001')).toEqual(['unknown'])
  expect(await names('--limit', '1')).toHaveLength(1)
  expect(await names('--until', '2026-01-01')).toEqual([])

  const { stdout } = await line.run('requests', '--failed', '--key', 'team')
  expect(stdout).toMatch(
    new RegExp(`404 +LM-2001 +demmo +- +team ${id} +unknown +the model is not configured; did`),
  )
  expect((await line.run('requests', '--id', 'stranger')).stdout).toMatch(
    /^status +401 LM-4004\nreason +the API key is missing or not valid$/m,
  )
  for (const [args, problem] of [
    [['--id', 'nothing'], /^no request with the id nothing is kept$/m],
    [['--key', 'other'], /^--key: no key has this id or name: other$/m],
    [['--status', '42'], /^status: must be a status such as 429/m],
    [['--limit', '0'], /must be a whole number from 1 to 1000/],
    [['--since', '1h', '--until', '2h'], /^since: must not be after until/m],
  ] as const) {
    const ran = await line.run('requests', ...args)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(problem)
  }

  await serving.close()
  expect((await names()).toSorted()).toEqual(['served', 'stranger', 'unknown'])
})
