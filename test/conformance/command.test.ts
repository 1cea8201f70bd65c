import { expect, test } from 'vitest'
import { runCommand } from '../../scripts/conformance/command.ts'

const run = (script: string, limit = 60_000) =>
  runCommand(['sh', '-c', script], { cwd: process.cwd(), env: {}, limit })

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a command says how it ended', async () => {
  expect(await run('echo out; echo err >&2')).toEqual({
    failure: undefined,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect((await run('exit 3')).failure).toBe('exit code 3')
  expect((await run('kill -TERM $$')).failure).toBe('signal SIGTERM')
})

test('a command that exceeds its limit names it, and leaves no process', async () => {
  const { failure, stdout } = await run('sleep 60 & echo $!; wait', 100)
  expect(failure).toBe('its time limit of 0.1 s')
  expect(isAlive(Number(stdout))).toBe(false)
})

test('a command leaves no process when it ends', async () => {
  const { failure, stdout } = await run('sleep 60 & echo $!')
  expect(failure).toBeUndefined()
  expect(isAlive(Number(stdout))).toBe(false)
})
