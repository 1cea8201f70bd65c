import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { samples, series } from '../support/exposition.ts'
import { built, command, finished } from './support/command.ts'
import { ask, crew, isRunning } from './support/crew.ts'
import { timed } from './support/servers.ts'
import { freePort } from './support/shipped-gateway.ts'

/*
 * The shipped executable with several workers.
 */

/** A configuration with one model that streams for some seconds. */
const makeConfig = (model: string, server = '') => `
log_format = "json"
[server]
workers = 2
${server}
[[providers]]
name = "demo"
kind = "demo"
tokens_per_second = 4
models = [{ id = "${model}" }]
[[providers]]
name = "endless"
kind = "demo"
tokens_per_second = 0.001
models = [{ id = "endless" }]
`

function chat(address: string, model: string, stream = false): Promise<Response> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] })
  return ask(address, '/v1/chat/completions', { method: 'POST', body })
}

async function listModels(address: string): Promise<readonly string[]> {
  const { data } = await (await ask(address, '/v1/models')).json()
  return data.map(({ id }: { id: string }) => id)
}

async function scrape(address: string): Promise<string> {
  return (await ask(address, '/metrics')).text()
}

async function countRequests(address: string): Promise<number> {
  const found = series(await scrape(address), 'gateway_request_duration_seconds_count')
  return found.reduce((sum, { value }) => sum + value, 0)
}

describe('workers', () => {
  test('share the port, the log and one page of metrics', async () => {
    const { address, lines, process: primary } = await crew(makeConfig('m'))
    // Both have a connection as soon as two are open.
    const answers = await Promise.all([1, 2, 3, 4].map(() => chat(address, 'm')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await Promise.all(answers.map((answer) => answer.text()))
    expect(lines('listening')).toMatchObject([{ workers: 2, address }])
    await expect.poll(() => lines('request')).toHaveLength(4)
    expect(new Set(lines('request').map(({ worker }) => worker))).toEqual(new Set([1, 2]))
    expect(await countRequests(address)).toBe(4)
    const page = samples(await scrape(address))
    const valuesOf = (name: string) => page.filter((sample) => sample.name === name)
    expect(valuesOf('gateway_build_info')).toMatchObject([{ value: 1 }])
    expect(valuesOf('gateway_ready')).toMatchObject([{ value: 1 }])
    expect(valuesOf('gateway_workers')).toMatchObject([{ value: 2 }])
    const processes = valuesOf('process_resident_memory_bytes').map(({ labels }) => labels)
    expect(processes).toEqual([{ worker: '1' }, { worker: '2' }, { worker: 'primary' }])
    primary.kill('SIGTERM')
  })

  test('one that is killed is replaced, without harm to the other or to the counters', async () => {
    const { address, lines, pids } = await crew(makeConfig('m'))
    await (await chat(address, 'm')).text()
    expect(await countRequests(address)).toBe(1)
    const streams = await Promise.all([chat(address, 'm', true), chat(address, 'm', true)])
    const texts = streams.map((stream) => stream.text().catch(() => 'torn'))
    const [victim = 0] = pids()
    process.kill(victim, 'SIGKILL')
    // The other one serves at once.
    expect(await listModels(address)).toEqual(['m', 'endless'])
    await expect.poll(() => lines('worker replaced')).toHaveLength(1)
    const ended = await Promise.all(texts)
    expect(ended.filter((text) => text.endsWith('data: [DONE]\n\n'))).toHaveLength(1)
    expect(lines('worker ended')).toMatchObject([
      { level: 'warn', pid: victim, code: null, signal: 'SIGKILL', restart_in_ms: 0 },
    ])
    expect(pids()).toHaveLength(2)
    expect(await countRequests(address)).toBe(2)
    expect(series(await scrape(address), 'gateway_workers_ended_total')).toMatchObject([
      { value: 1 },
    ])
  })

  test('one that keeps dying is replaced after a growing delay', async () => {
    const { address, lines, pids } = await crew(makeConfig('m'))
    const total = async () => {
      const page = samples(await scrape(address))
      return page
        .filter(({ name }) => name === 'gateway_http_request_duration_seconds_count')
        .reduce((sum, { value }) => sum + value, 0)
    }
    await ask(address, '/health')
    let seen = await total()
    for (const delay of [0, 250, 500]) {
      process.kill(pids().at(-1) ?? 0, 'SIGKILL')
      await expect.poll(() => lines('worker ended').at(-1)).toMatchObject({ restart_in_ms: delay })
      const next = await total()
      expect(next).toBeGreaterThanOrEqual(seen)
      seen = next
      const replaced = lines('worker ended').length
      await expect.poll(() => lines('worker replaced')).toHaveLength(replaced)
    }
  })

  test('all serve a changed file, at once after SIGHUP, which is logged and counted once', async () => {
    const { address, lines, path, pids, process: primary } = await crew(makeConfig('first'))
    writeFileSync(path, makeConfig('second'))
    await expect.poll(() => lines('configuration reloaded')).toHaveLength(1)
    for (let each = 0; each < 4; each++) {
      expect(await listModels(address)).toEqual(['second', 'endless'])
    }
    expect(series(await scrape(address), 'gateway_config_reloads_total')).toMatchObject([
      { value: 1 },
    ])
    writeFileSync(path, makeConfig('third'))
    primary.kill('SIGHUP')
    await expect.poll(() => lines('configuration reloaded').length).toBeGreaterThan(1)
    for (let each = 0; each < 4; each++) {
      expect(await listModels(address)).toEqual(['third', 'endless'])
    }
    // A refused file changes nothing, also not for a worker that starts later.
    writeFileSync(path, makeConfig('fourth', 'prot = 1'))
    const refusal =
      'the configuration is refused: server.prot (line 5): unknown setting; did you mean \\"port\\"?'
    await expect.poll(() => lines(refusal)).toHaveLength(1)
    process.kill(pids()[0] ?? 0, 'SIGKILL')
    await expect.poll(() => lines('worker replaced')).toHaveLength(1)
    for (let each = 0; each < 4; each++) {
      expect(await listModels(address)).toEqual(['third', 'endless'])
    }
    expect(lines(refusal)).toHaveLength(1)
  })

  test('count the connections of an address together', async () => {
    const { address } = await crew(makeConfig('m', 'max_connections_per_address = 3'))
    const controller = new AbortController()
    const open = (at: number) =>
      fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        body: '{"model":"endless","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
        signal: controller.signal,
      }).then(
        () => `open ${at}`,
        () => 'refused',
      )
    const [first, second, third] = [open(1), open(2), open(3)]
    await expect
      .poll(async () => {
        const response = await ask(address, '/health').catch(() => undefined)
        return response?.status
      })
      .toBe(undefined)
    controller.abort()
    await Promise.all([first, second, third])
    await expect
      .poll(async () => (await ask(address, '/health').catch(() => undefined))?.status)
      .toBe(200)
  })
})

describe('stopping', () => {
  test('all are not ready and serve during the delay, then finish, and the exit code is 0', async () => {
    const gateway = await crew(makeConfig('m', 'drain_delay_ms = 1000'))
    const { address, process: primary, pids } = gateway
    const workers = pids()
    const streams = await Promise.all([chat(address, 'm', true), chat(address, 'm', true)])
    const texts = streams.map((stream) => stream.text())
    // An idle connection must not delay the end.
    await (await fetch(`${address}/health`)).text()
    primary.kill('SIGTERM')
    await expect.poll(async () => (await ask(address, '/health/ready')).status).toBe(503)
    for (let each = 0; each < 4; each++) {
      expect((await ask(address, '/health/ready')).status).toBe(503)
    }
    expect(await listModels(address)).toEqual(['m', 'endless'])
    for (const text of await Promise.all(texts)) expect(text).toMatch(/data: \[DONE\]\n\n$/)
    const { stdout, ...end } = await finished(gateway)
    expect(end).toMatchObject({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n').at(-1)).toContain('"msg":"stopped"')
    expect(workers.filter(isRunning)).toEqual([])
  })

  test('with nothing to finish takes less than a second', async () => {
    const gateway = await crew(makeConfig('m'))
    await (await fetch(`${gateway.address}/health`)).text()
    gateway.process.kill('SIGINT')
    expect(await timed(finished(gateway))).toBeLessThan(1_000)
    expect(await finished(gateway)).toMatchObject({ code: 0, stderr: '' })
  })

  test('a second signal ends all at once with 1', async () => {
    const gateway = await crew(makeConfig('m'))
    const workers = gateway.pids()
    void chat(gateway.address, 'endless', true).catch(() => {})
    await expect
      .poll(async () => series(await scrape(gateway.address), 'gateway_requests_in_flight'))
      .toMatchObject([{ value: 1 }])
    gateway.process.kill('SIGTERM')
    await gateway.until(/shutting down/)
    gateway.process.kill('SIGTERM')
    expect(await timed(finished(gateway))).toBeLessThan(2_000)
    expect(await finished(gateway)).toMatchObject({ code: 1, stderr: '' })
    await expect.poll(() => workers.filter(isRunning)).toEqual([])
  })

  test('the workers of a primary process that is killed finish and end', async () => {
    const gateway = await crew(makeConfig('m'))
    const workers = gateway.pids()
    const stream = await chat(gateway.address, 'm', true)
    gateway.process.kill('SIGKILL')
    expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/)
    await expect.poll(() => workers.filter(isRunning)).toEqual([])
    await expect(chat(gateway.address, 'm')).rejects.toThrow('fetch failed')
  })
})

describe('a start that fails', () => {
  const start = (config: string, env: Readonly<Record<string, string>> = {}) =>
    finished(command([built.executable], { config, env }))

  test('on a port in use ends with 1 and says so', async () => {
    const port = await freePort()
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    expect(await start(makeConfig('m', `port = ${port}`))).toEqual({
      code: 1,
      stdout: '',
      stderr: `cannot listen on 127.0.0.1:${port}: the port is in use; stop the other process or change server.port\n`,
    })
  })

  test('on an invalid configuration ends with 2 and says so once', async () => {
    expect(await start(makeConfig('m', 'prot = 1'))).toEqual({
      code: 2,
      stdout: '',
      stderr: 'server.prot (line 5): unknown setting; did you mean "port"?\n',
    })
  })

  test('in a worker ends with its reason', async () => {
    expect(await start(makeConfig('m'), { HTTPS_PROXY: 'ftp://proxy.test' })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^HTTPS_PROXY .+\n$/),
    })
  })

  test('with auth on, without shared state, ends with 2 and the reason', async () => {
    const config = `${makeConfig('m')}\n[auth]\nenabled = true\n`
    expect(await start(config)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('each would grant the full budgets'),
    })
  })
})
