import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { errorFields } from '../../src/core/error-fields.ts'
import { command, finished } from './support/command.ts'

describe('the logged fields of an error', () => {
  test('an error is logged with its class, code and location, without its message', () => {
    const error = Object.assign(new TypeError('secret\n    at secret (file:1:1)'), {
      code: 'ERR_CODE',
      params: ['secret'],
    })
    const fields = errorFields(error)
    expect(fields).toEqual({
      error: 'TypeError',
      code: 'ERR_CODE',
      at: expect.stringMatching(/^at .*uncaught-errors\.test\.ts:\d+:\d+\)?$/),
    })
  })

  test('a thrown value that is not an error is logged with its type', () => {
    expect(errorFields('secret')).toEqual({ error: 'string' })
    expect(errorFields(undefined)).toEqual({ error: 'undefined' })
  })
})

test('a guarded process survives uncaught errors and rejections', async () => {
  const guard = new URL('../../adapters/node/process/uncaught-errors.ts', import.meta.url)
  const script = `
    import { logUncaughtErrors } from ${JSON.stringify(fileURLToPath(guard))}
    logUncaughtErrors({ write: (level, message, fields) => console.log(level, JSON.stringify(fields)) })
    setTimeout(() => { throw new RangeError('secret') }, 1)
    setTimeout(() => { Promise.reject(Object.assign(new Error('secret'), { code: 'ECODE' })) }, 5)
    setTimeout(() => console.log('alive'), 10)
  `
  const tsx = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href
  const run = await finished(command(['--import', tsx, '--input-type=module', '-e', script]))
  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(run.stdout).toMatch(/^error \{"error":"RangeError".*\nerror .*"code":"ECODE".*\nalive\n$/)
  expect(run.stdout).not.toContain('secret')
})
