import { expect, test } from 'vitest'
import { runCommand } from '../../scripts/conformance/command.ts'

const run = (script: string, limit = 60_000) =>
  runCommand(['sh', '-c', script], { cwd: process.cwd(), env: {}, limit })

test('a command says how it ended', async () => {
  expect(await run('echo out; echo err >&2')).toEqual({
    failure: undefined,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect((await run('exit 3')).failure).toBe('exit code 3')
  expect((await run('kill -TERM $$')).failure).toBe('signal SIGTERM')
})

/* A child that lived on would hold the output open, and the test would wait for it. */

test('a command that exceeds its limit names it, and its children end too', async () => {
  expect(await run('echo out; sleep 60 & wait', 100)).toEqual({
    failure: 'its time limit of 0.1 s',
    stdout: 'out\n',
    stderr: '',
  })
})

test('the children of a command end with it', async () => {
  expect(await run('sleep 60 & echo out')).toMatchObject({ failure: undefined, stdout: 'out\n' })
})
