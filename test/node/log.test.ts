import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type LogOptions, logLevel, nodeLog } from '../../adapters/node/log/log.ts'
import { fileOutput } from '../../adapters/node/log/log-output.ts'
import { wantsColors } from '../../adapters/node/output/style.ts'

const finished = {
  request_id: 'r-1',
  key_id: '5f0c3a7e9b1d4c28a6e0f7b2d9c4e831',
  capability: 'chat',
  api: 'chat',
  model: 'fast',
  model_used: 'fast',
  provider: 'local',
  status: 200,
  error_code: undefined,
  stream: false,
  latency_ms: 39,
  attempts: 1,
  tokens_in: 12,
  tokens_out: 5,
  estimated: false,
}

describe('the log as json', () => {
  test('each line is one JSON object', async () => {
    const { log, lines } = logFile({ format: 'json' })
    log.write('info', 'request', { status: 200, model: 'm' })
    log.write('error', 'failed')
    await log.flush()
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        status: 200,
        model: 'm',
        msg: 'request',
      },
      { level: 'error', time: expect.any(String), msg: 'failed' },
    ])
  })
})

describe('the log for people', () => {
  async function shown(
    ...[level, message, fields]: Parameters<ReturnType<typeof nodeLog>['write']>
  ) {
    const { log, lines } = logFile({ format: 'pretty' })
    log.write(level, message, fields)
    await log.flush()
    const [line = ''] = lines()
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} /)
    return line.slice(13)
  }

  test('a line is the time, the level, the message and the fields', async () => {
    expect(await shown('warn', 'slow', { latency_ms: 12, path: 'a b', address: undefined })).toBe(
      'WARN  slow latency_ms=12 path="a b"',
    )
    expect(await shown('info', 'listening', { address: 'http://127.0.0.1:8080' })).toBe(
      'INFO  listening address=http://127.0.0.1:8080',
    )
    expect(await shown('error', 'failed', { settings: ['a'], at: null })).toBe(
      'ERROR failed settings=["a"] at=null',
    )
  })

  test('a request line shows the outcome in words and other fields by name', async () => {
    expect(await shown('info', 'request', finished)).toBe(
      '200 chat fast→local 39 ms 12+5 tok key 5f0c3a7e request_id=r-1',
    )
    expect(
      await shown('warn', 'request', {
        ...finished,
        status: 502,
        error_code: 'LM-3010',
        model_used: 'backup',
        provider: 'cloud',
        stream: true,
        ttft_ms: 17,
        attempts: 3,
        estimated: true,
        metadata: { team: 'a' },
      }),
    ).toBe(
      '502 LM-3010 chat stream fast→backup→cloud 39 ms (first 17) 3 attempts ~12+5 tok ' +
        'key 5f0c3a7e request_id=r-1 metadata={"team":"a"}',
    )
    expect(
      await shown('info', 'request', {
        status: 401,
        capability: 'embed',
        api: 'embeddings',
        latency_ms: 0,
      }),
    ).toBe('401 embeddings 0 ms')
  })

  test('a request line says why the gateway refused', async () => {
    const refused = { status: 402, error_code: 'LM-4001', api: 'chat', model: 'm', latency_ms: 1 }
    const why = { reason: "the key's budget \u001b", scope: 'key', request_id: 'r-1' }
    expect(await shown('info', 'request', { ...refused, ...why })).toBe(
      "402 LM-4001 chat m 1 ms request_id=r-1 refused: the key's budget \\u001b",
    )
  })

  test('a request line says which links failed and why', async () => {
    const failed = [
      { model: 'fast', provider: 'local', reason: 'could not be reached (X)', attempts: 3 },
      { model: 'a b', provider: 'cloud', reason: 'cannot express \u001b', attempts: 0 },
    ]
    expect(await shown('info', 'request', { ...finished, attempts: 4, failed })).toBe(
      '200 chat fast→local 39 ms 4 attempts 12+5 tok key 5f0c3a7e request_id=r-1 ' +
        'failed: fast→local could not be reached (X), 3 attempts; "a b"→cloud cannot express \\u001b',
    )
  })
})

test('a line contains no line break or escape code of a field', async () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = logFile({ format })
    log.write('info', 'request', { ...finished, model: 'a\nb\u001b[31m' })
    await log.flush()
    expect(lines().join('\n')).toContain('"a\\nb\\u001b[31m"')
  }
  const { log, lines } = logFile({ format: 'pretty' })
  log.write('info', 'x\n', { a: 'b\u009b31m', c: { d: '\u202e' } })
  await log.flush()
  expect(lines()).toEqual([expect.stringMatching(/x\\u000a a="b\\u009b31m" c=\{"d":"\\u202e"\}$/)])
})

test('a line below the level is left out', async () => {
  const { log, lines } = logFile({ level: 'warn' })
  log.write('info', 'unheard')
  log.write('warn', 'heard')
  await log.flush()
  expect(log.enabled('info')).toBe(false)
  expect(log.enabled('warn')).toBe(true)
  expect(lines()).toEqual([expect.stringContaining('heard')])
})

test('colors are used when enabled', async () => {
  for (const colors of [true, false]) {
    const { log, lines } = logFile({ format: 'pretty', colors })
    log.write('info', 'request', finished)
    log.write('error', 'failed', { code: 1 })
    await log.flush()
    expect(lines().every((line) => line.includes('\u001b['))).toBe(colors)
  }
})

describe('lines', () => {
  test('many lines keep their order, and none is lost', async () => {
    const { log, lines } = logFile({ format: 'json' })
    const count = 2_000
    for (let i = 0; i < count; i++) log.write('info', 'request', { i, model: 'm'.repeat(50) })
    await expect.poll(() => lines().length).toBe(count)
    expect(lines().map((line) => JSON.parse(line).i)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    )
  })

  test('all waiting lines are written when a flush resolves', async () => {
    for (const count of [1, 100]) {
      const { log, lines } = logFile({})
      for (let i = 0; i < count; i++) log.write('info', 'request', { model: 'm'.repeat(1_000) })
      await log.flush()
      expect(lines()).toHaveLength(count)
    }
  })

  test('waiting lines are written together after the delay', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { log, written } = slowReader({ delay: 100 })
    log.write('info', 'first')
    vi.advanceTimersByTime(99)
    log.write('info', 'second')
    expect(written()).toEqual([])
    vi.advanceTimersByTime(1)
    expect(written()).toEqual(['first second'])
  })
})

describe('a reader that is stuck', () => {
  test('a stuck reader blocks neither a line nor a flush', async () => {
    const { log, written } = slowReader()
    log.write('info', 'first')
    const start = performance.now()
    await log.flush()
    log.write('info', 'second')
    await log.flush()
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(written()).toEqual(['first'])
  })

  test('a reader that resumes gets the waiting lines and the number of dropped ones', async () => {
    const { log, written, read } = slowReader()
    log.write('info', 'first')
    void log.flush()
    for (let line = 0; line < 12; line++) log.write('info', `line-${line} `, { pad: padding })
    read()
    read()
    expect(written()).toEqual([
      'first',
      `${Array.from({ length: 8 }, (_, line) => `line-${line}`).join(' ')} ${lost} (4)`,
    ])
  })

  test('after a failed write the number of lost lines is logged', async () => {
    const { log, written, read } = slowReader()
    log.write('info', 'first')
    log.write('info', 'second')
    void log.flush()
    read(new Error('EPIPE'))
    log.write('info', 'third')
    void log.flush()
    read()
    expect(written()).toEqual(['first second', 'third', `${lost} (2)`])
  })
})

test('a log that cannot be written does not end the process', async () => {
  const log = nodeLog({ ...plain, output: fileOutput(999_999) })
  log.write('info', 'x'.repeat(5_000))
  await log.flush()
  expect(log.enabled('info')).toBe(true)
})

describe('the environment', () => {
  test.each([
    [{}, 'info'],
    [{ GATEWAY_LOG_LEVEL: 'debug' }, 'debug'],
    [{ GATEWAY_LOG_LEVEL: 'error' }, 'error'],
    [{ GATEWAY_LOG_LEVEL: 'verbose' }, undefined],
    [{ GATEWAY_LOG_LEVEL: 'INFO' }, undefined],
    [{ GATEWAY_LOG_LEVEL: '' }, undefined],
  ])('%j gives the level %s', (env, level) => {
    expect(logLevel(env)).toBe(level)
  })

  test('colors are used only on a terminal without NO_COLOR', () => {
    const { isTTY } = process.stdout
    onTestFinished(() => {
      process.stdout.isTTY = isTTY
    })
    process.stdout.isTTY = true
    expect([
      wantsColors({}),
      wantsColors({ NO_COLOR: '1' }),
      wantsColors({ NO_COLOR: '' }),
    ]).toEqual([true, false, true])
    process.stdout.isTTY = false
    expect(wantsColors({})).toBe(false)
  })
})

const plain: LogOptions = { format: 'json', level: 'info', colors: false }

/** A log in a file, and its lines so far. */
function logFile(options: Partial<LogOptions>) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-log-'))
  const path = join(folder, 'log')
  const output = fileOutput(openSync(path, 'a'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const log = nodeLog({ ...plain, output, ...options })
  return { log, lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1) }
}

/** The message that reports lost lines. */
const lost = 'log lines dropped, standard output is too slow or closed'

/** Eight lines with it are more than may wait. */
const padding = 'x'.repeat(1024 * 1024)

/** A log whose writes end only when the reader reads: `written` has the messages of each write. */
function slowReader({ delay = 1 } = {}) {
  const writes: { readonly text: string; readonly done: (error?: Error) => void }[] = []
  let reads = 0
  const output = {
    delay,
    write: (text: string, done: (error?: Error) => void) => void writes.push({ text, done }),
  }
  const messageOf = (line: string) => {
    const { msg, lines } = JSON.parse(line)
    return lines === undefined ? msg.trim() : `${msg} (${lines})`
  }
  return {
    log: nodeLog({ ...plain, output }),
    read: (error?: Error) => writes[reads++]?.done(error),
    written: () => writes.map(({ text }) => text.trimEnd().split('\n').map(messageOf).join(' ')),
  }
}
