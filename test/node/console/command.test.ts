import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { built, command, finished } from '../support/command.ts'
import { freePort } from '../support/shipped-gateway.ts'
import { folder } from '../support/store.ts'

describe('gateway console', () => {
  test('the command of the README serves a page about a demo gateway, and leaves nothing behind', async () => {
    const TMPDIR = folder()
    const shown = /^node dist\/gateway\.js (console .*)$/m.exec(readFileSync('README.md', 'utf8'))
    const words = shown?.[1]?.split(' ') ?? []
    const running = command([built.executable, ...words, '--port', '0'], {
      env: { TMPDIR },
    })
    const [, origin = '', code = ''] = await running.until(/(http:\S+)\/#code=(\S+)/)
    const opened = await fetch(`${origin}/session`, { method: 'POST', body: code })
    const headers = { 'x-console-token': (await opened.json()).token }
    const read = async (path: string) =>
      (await fetch(`${origin}/api/admin/${path}`, { headers })).json()
    const names = (await read('keys')).keys.map(({ name }: { name: string }) => name)
    expect(names.sort()).toEqual(['help desk', 'nightly batch', 'search service', 'trial'])
    await expect.poll(async () => (await read('requests')).rows.length).toBeGreaterThan(1)
    running.process.kill('SIGINT')
    expect(await finished(running)).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(TMPDIR)).toEqual([])
  })

  test('without a running gateway it says where it looked', async () => {
    const address = `http://127.0.0.1:${await freePort()}`
    const env = { GATEWAY_MASTER_KEY: '6d'.repeat(32) }
    const ended = finished(command([built.executable, 'console', '--url', address], { env }))
    expect(await ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `no gateway listens at ${address}\n`,
    })
  })

  test('a port in use is named', async () => {
    const demo = command([built.executable, 'console', '--demo', '--port', '0'])
    const [, port = ''] = await demo.until(/127\.0\.0\.1:(\d+)\/#/)
    const second = command([built.executable, 'console', '--demo', '--port', port])
    expect(await finished(second)).toMatchObject({
      code: 1,
      stderr: `port ${port} is in use; choose another one with --port\n`,
    })
  })
})
