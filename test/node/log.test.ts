import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LogOptions, logLevel, nodeLog, wantsColors } from '../../adapters/node/log.ts'

describe('the log', () => {
  test('as json is an object a line', () => {
    const { log, read } = logFile({ format: 'json' })
    log.write('info', 'request', { status: 200, model: 'm' })
    log.write('error', 'failed')
    log.flush()
    expect(
      read()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
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

  test('for human eyes is a line with the message and the fields', () => {
    const { log, read } = logFile({ format: 'pretty' })
    log.write('warn', 'slow', { latency_ms: 12 })
    log.flush()
    expect(read()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: slow \{"latency_ms":12\}\n$/)
  })

  test('holds no line breaks or escape codes of a field', () => {
    for (const format of ['json', 'pretty'] as const) {
      const { log, read } = logFile({ format })
      log.write('info', 'request', { model: 'a\nb\u001b[31m' })
      log.flush()
      expect(read()).toContain('"a\\nb\\u001b[31m"')
    }
  })

  test('leaves out what is below its level', () => {
    const { log, read } = logFile({ level: 'warn' })
    log.write('info', 'unheard')
    log.write('warn', 'heard')
    log.flush()
    expect(log.enabled('info')).toBe(false)
    expect(log.enabled('warn')).toBe(true)
    expect(read()).toMatch(/heard/)
    expect(read()).not.toMatch(/unheard/)
  })

  test('is coloured when it is told to be', () => {
    const { log, read } = logFile({ format: 'pretty', colors: true })
    log.write('info', 'request')
    log.flush()
    expect(read()).toContain('\u001b[')
  })

  test('keeps the order of lines that come in crowds, and loses none', async () => {
    const { log, read } = logFile({ format: 'json' })
    const count = 2_000
    for (let i = 0; i < count; i++) log.write('info', 'request', { i, model: 'm'.repeat(50) })
    await expect.poll(() => read().split('\n').length - 1, { timeout: 3_000 }).toBe(count)
    const lines = read().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).i)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    )
  })

  test('is out when its flush returns, whatever waited', () => {
    for (const count of [1, 40]) {
      const { log, read } = logFile({})
      for (let i = 0; i < count; i++) log.write('info', 'request', { model: 'm'.repeat(1_000) })
      log.flush()
      expect(read().split('\n').length - 1).toBe(count)
    }
  })

  test('is written a moment later by itself', async () => {
    const { log, read } = logFile({})
    log.write('info', 'request')
    await expect.poll(read, { timeout: 3_000 }).toContain('request')
  })
})

test('a log that cannot be written ends nothing', async () => {
  const log = nodeLog({ format: 'json', level: 'info', colors: false, destination: 999_999 })
  log.write('info', 'x'.repeat(5_000))
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(log.enabled('info')).toBe(true)
})

describe('what the environment asks for', () => {
  test.each([
    [{}, 'info'],
    [{ GATEWAY_LOG_LEVEL: 'debug' }, 'debug'],
    [{ GATEWAY_LOG_LEVEL: 'error' }, 'error'],
    [{ GATEWAY_LOG_LEVEL: 'verbose' }, undefined],
    [{ GATEWAY_LOG_LEVEL: 'INFO' }, undefined],
    [{ GATEWAY_LOG_LEVEL: '' }, undefined],
  ])('%j is the level %s', (env, level) => {
    expect(logLevel(env)).toBe(level)
  })

  test('colours are for terminals whose user has not declined them', () => {
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

function logFile(options: Partial<LogOptions>) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-log-'))
  const path = join(folder, 'log')
  const destination = openSync(path, 'a')
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const log = nodeLog({ format: 'json', level: 'info', colors: false, destination, ...options })
  return { log, read: () => readFileSync(path, 'utf8') }
}
