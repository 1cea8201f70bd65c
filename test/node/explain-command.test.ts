import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandLine, commandLine, setVariables } from './support/cli.ts'

const body = { model: 'demo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello there' }] }

/** Writes a file into the folder of a command line, and returns its path. */
function write({ folder }: CommandLine, value: unknown): string {
  const path = join(folder, 'request.json')
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

test('the command explains a request for people, through a running gateway', async () => {
  const line = await commandLine()
  await line.serve()
  const { code, stdout } = await line.run('explain', write(line, body))
  expect(code).toBe(0)
  expect(stdout).toBe(
    `
Route      demo: demo
Estimate   10 prompt tokens, at most 20 output tokens, at most $0.000225
Verdict    admitted

1. demo at demo: credential not needed, circuit closed
   reserves $0.000225
             COUNT  PRICE                US DOLLARS
     input      10  × $2.5 / 1,000,000  0.000025000
     output     20  × $10 / 1,000,000   0.000200000
   POST http://demo.invalid/v1/chat/completions
   {
     "model": "demo",
     "max_tokens": 20,
     "messages": [
       {
         "role": "user",
         "content": "Hello there"
       }
     ]
   }
`.trimStart(),
  )
})

test('--json prints the answer, of a key and a path that options name', async () => {
  const line = await commandLine()
  await line.serve()
  const { id } = await line.json('keys', 'create', '--name', 'k', '--rpm-limit', '0')
  const request = write(line, { path: '/v1/chat', body: { model: 'demo', prompt: 'Once' } })
  const options = ['--path', '/v1/completions', '--key', String(id)]
  expect(await line.json('explain', request, ...options)).toMatchObject({
    route: { id: 'demo', order: ['demo'] },
    admission: { verdict: 'refused', code: 'LM-4002', scope: 'key' },
  })
  expect((await line.run('explain', request, ...options)).stdout).toMatch(
    /^Verdict {4}refused by the limits of the key\nError {6}LM-4002 the key's request limit is 0/m,
  )
})

test('with auth off the configuration alone is explained', async () => {
  const line = await commandLine()
  const config = readFileSync(line.config, 'utf8').replace('enabled = true', 'enabled = false')
  writeFileSync(line.config, config)
  setVariables({ GATEWAY_MASTER_KEY: undefined })
  const request = write(line, body)
  expect(await line.json('explain', request)).toMatchObject({
    route: { id: 'demo' },
    admission: { verdict: 'admitted' },
  })
  expect(await line.run('explain', request, '--key', 'x')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'auth.enabled is false, so there are no keys\n',
  })
  expect(await line.run('explain', request, '--path', '/v1/none')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^path: no such route/),
  })
})

test('bad usage ends with 2', async () => {
  const line = await commandLine()
  expect(await line.run('explain')).toMatchObject({ code: 2 })
  expect(await line.run('explain', join(line.folder, 'none.json'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('none.json: cannot be read (ENOENT)'),
  })
  expect(await line.run('explain', write(line, '{'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('request.json: not valid JSON'),
  })
  expect(await line.run('explain', write(line, body), '--path', '/v1/none')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('path: no such route'),
  })
})
