import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { completion, done, hello, role } from '../support/answers.ts'
import { built, command, finished } from './support/command.ts'
import { httpServer } from './support/servers.ts'
import { folder } from './support/store.ts'

/*
 * Everything that the process emits and stores is searched for secrets, prompts and answers.
 */

const canaries = {
  'the master key': 'c0ffee0123456789'.repeat(4),
  'the provider key of the environment': 'sk-canary-environment-0123456789abcdef',
  'the provider key that is stored': 'canary.stored.provider.key.0123456789',
  'the webhook secret of the environment': 'canary-webhook-environment-secret',
  'the webhook secret that is stored': 'canary-webhook-stored-secret',
  'the token of the database': 'canary-database-token',
  'the text of a prompt': 'canary prompt: the otter sleeps at nine',
  'the text of an answer': 'canary answer: it wakes at ten',
  'an Authorization header that is wrong': 'canary-wrong-credential-0123456789',
} as const

type Name = keyof typeof canaries

/** An upstream whose errors quote the credential and the prompt. */
async function echoingUpstream() {
  return httpServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const { stream, messages } = JSON.parse(text)
    const prompt = JSON.stringify(messages)
    const status = Number(/status (\d+)/.exec(prompt)?.[1] ?? 200)
    const answer = canaries['the text of an answer']
    if (status !== 200) {
      const message = `refused ${request.headers.authorization} and ${prompt} and ${answer}`
      response.writeHead(status, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ error: { message } }))
    }
    if (prompt.includes('malformed')) return response.end(`not JSON: ${answer} ${prompt}`)
    if (!stream) {
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(completion(answer)))
    }
    response.setHeader('content-type', 'text/event-stream')
    response.write(role + hello.replace('Hello', answer))
    if (prompt.includes('break off')) return response.destroy()
    if (prompt.includes('error frame')) {
      return response.end(`data: ${JSON.stringify({ error: { message: prompt + answer } })}\n\n`)
    }
    response.end(done)
  })
}

interface Seen {
  /** The values that must not appear in `text`. */
  readonly hidden: readonly string[]
  readonly text: string
  readonly from: string
}

test.each(['pretty', 'json'])(
  'no secret, prompt or answer leaks from the gateway: %s log',
  async (format) => {
    const upstream = await echoingUpstream()
    const delivered: string[] = []
    const receiver = await httpServer(async (request, response) => {
      let text = JSON.stringify(request.headers)
      for await (const piece of request) text += piece
      delivered.push(text)
      response.writeHead(500).end(canaries['the webhook secret of the environment'])
    })
    const directory = folder()
    const port = (format === 'json' ? 30_001 : 30_000) + 2 * (process.pid % 1_000)
    const config = `
log_format = "${format}"
[server]
port = ${port}
[auth]
enabled = true
db_path = ${JSON.stringify(join(directory, 'gateway.db'))}
flush_interval_ms = 50
usage_flush_ms = 50
[resilience]
retry_max_attempts = 2
circuit_failure_threshold = 1000
retry_base_ms = 1
[webhooks]
url = "${receiver.url}/?token=hidden"
max_attempts = 2
retry_base_ms = 1
signing_key_env = "CANARY_WEBHOOK"
[[providers]]
name = "env"
kind = "openai"
base_url = "${upstream.url}/v1"
api_key_env = "CANARY_ENV"
models = [{ id = "m", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
[[providers]]
name = "stored"
kind = "openai"
base_url = "${upstream.url}/v1"
models = [{ id = "n", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`
    const file = join(directory, 'config.toml')
    writeFileSync(file, config)
    const running = command([built.executable, '--config', file], {
      env: {
        // Debug lines contain the vendor's text, which may quote the request.
        GATEWAY_LOG_LEVEL: 'info',
        GATEWAY_MASTER_KEY: canaries['the master key'],
        GATEWAY_DB_AUTH_TOKEN: canaries['the token of the database'],
        CANARY_ENV: canaries['the provider key of the environment'],
        CANARY_WEBHOOK: canaries['the webhook secret of the environment'],
      },
    })
    await running.until(/http:\/\/127\.0\.0\.1:\d+/)

    const all = Object.values(canaries)
    const texts = new Set<string>([
      canaries['the text of a prompt'],
      canaries['the text of an answer'],
    ])
    const secrets = all.filter((each) => !texts.has(each))
    const seen: Seen[] = []
    /** Virtual keys are shown once, in the response that creates them. */
    const virtual: string[] = []

    const send = async (
      method: string,
      path: string,
      token: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      // A stream that breaks off is an error to its reader.
      const text = await response.text()
      const hidden = path.startsWith('/v1/') ? secrets : all
      seen.push({
        from: `${method} ${path} ${response.status}`,
        hidden,
        text: JSON.stringify([...response.headers]) + text,
      })
      return { status: response.status, text, headers: response.headers }
    }
    const admin = (
      method: string,
      path: string,
      body?: unknown,
      headers?: Record<string, string>,
    ) => send(method, path, canaries['the master key'], body, headers)
    const created = async (fields: object) => {
      const { text } = await admin('POST', '/admin/keys', { name: 'a key', ...fields })
      const { id, key } = JSON.parse(text)
      virtual.push(key)
      return { id, key }
    }

    await admin('PUT', '/admin/provider-keys/stored', {
      key: canaries['the provider key that is stored'],
    })
    await admin('PUT', '/admin/webhooks/signing-key', {
      secret: canaries['the webhook secret that is stored'],
    })
    const rich = await created({ budget_max: 1 })
    const poor = await created({ budget_max: 0 })
    const gone = await created({})
    await admin('DELETE', `/admin/keys/${gone.id}`)
    const rotated = JSON.parse((await admin('POST', `/admin/keys/${rich.id}/rotate`)).text)
    virtual.push(rotated.key)

    const prompt = (more: string) => [
      { role: 'user', content: `${canaries['the text of a prompt']}; ${more}` },
    ]
    const statuses: number[] = []
    for (const model of ['m', 'n', 'unknown']) {
      for (const about of [
        '',
        'status 400',
        'status 401',
        'status 500',
        'malformed',
        'break off',
        'error frame',
      ]) {
        for (const stream of [false, true]) {
          const body = { model, stream, messages: prompt(about) }
          statuses.push((await send('POST', '/v1/chat/completions', rotated.key, body)).status)
        }
      }
    }
    expect(new Set(statuses)).toEqual(new Set([200, 400, 404, 502]))
    const spoken = { model: 'm', messages: prompt('') }
    for (const token of [
      poor.key,
      gone.key,
      rich.key,
      canaries['an Authorization header that is wrong'],
    ]) {
      await send('POST', '/v1/chat/completions', token, spoken)
    }
    await send(
      'POST',
      '/v1/chat/completions',
      rotated.key,
      `{"model":"m","messages":"${canaries['the text of a prompt']}"`,
    )
    await send('POST', '/v1/chat/completions', rotated.key, {
      ...spoken,
      n: canaries['the text of a prompt'],
    })
    await send('GET', '/admin/keys', canaries['an Authorization header that is wrong'])
    for (const [path, body] of [
      ['/admin/provider-keys/stored', { keys: canaries['the provider key that is stored'] }],
      ['/admin/provider-keys/absent', { key: canaries['the provider key that is stored'] }],
      [
        '/admin/webhooks/signing-key',
        { secret: '', other: canaries['the webhook secret that is stored'] },
      ],
    ] as const) {
      await admin('PUT', path, body)
    }
    for (const path of ['keys?include_deleted=true', 'groups', 'usage', 'webhooks', 'config']) {
      await admin('GET', `/admin/${path}`)
    }
    const { hash } = JSON.parse((await admin('GET', '/admin/config')).text)
    await admin('PUT', '/admin/config', `${config}\n# other\n`, { 'if-match': hash })
    await vi.waitFor(async () => {
      const { text } = await admin('GET', '/admin/usage/export')
      expect(JSON.parse(text).rows.length).toBeGreaterThan(20)
    }, 10_000)
    await send('GET', '/metrics', 'none')
    await send('GET', '/health/providers', 'none')
    await sleep(200)
    const stored = readFiles(directory)
    running.process.kill('SIGTERM')
    const { code, stdout, stderr } = await finished(running)
    expect(code).toBe(0)

    const everything = [...all, ...virtual]
    seen.push({ from: 'standard output', hidden: everything, text: stdout })
    seen.push({ from: 'standard error', hidden: everything, text: stderr })
    expect(delivered.length).toBeGreaterThan(0)
    seen.push({ from: 'webhooks', hidden: everything, text: delivered.join() })
    for (const [name, text] of [...stored, ...readFiles(directory)]) {
      seen.push({ from: name, hidden: everything, text })
    }
    expect(stdout.length).toBeGreaterThan(5_000)
    expect(stored.map(([name]) => name)).toEqual(
      expect.arrayContaining(['config.toml', 'config.toml.bak', 'gateway.db', 'gateway.db-wal']),
    )
    const names = new Map<string, Name | 'a virtual key'>([
      ...Object.entries(canaries).map(([name, value]) => [value, name as Name] as const),
      ...virtual.map((key) => [key, 'a virtual key'] as const),
    ])
    const leaks = seen.flatMap(({ from, hidden, text }) =>
      hidden.filter((value) => text.includes(value)).map((value) => `${names.get(value)}: ${from}`),
    )
    expect(leaks).toEqual([])
    // The search itself works: it finds the answers that clients received.
    expect(
      seen.filter(({ text }) => text.includes(canaries['the text of an answer'])).length,
    ).toBeGreaterThan(3)
    const responses = seen.filter(({ text }) => virtual.some((key) => text.includes(key)))
    expect(responses.map(({ from }) => from)).toEqual([
      'POST /admin/keys 201',
      'POST /admin/keys 201',
      'POST /admin/keys 201',
      `POST /admin/keys/${rich.id}/rotate 200`,
    ])
  },
  60_000,
)

function readFiles(directory: string): (readonly [name: string, text: string])[] {
  return readdirSync(directory)
    .filter((name) => statSync(join(directory, name)).isFile())
    .map((name) => [name, readFileSync(join(directory, name), 'latin1')] as const)
}
