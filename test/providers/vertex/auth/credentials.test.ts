import { describe, expect, test } from 'vitest'
import { bench, failureOf, serviceAccount, token } from '../support.ts'

describe('ready-made secrets go out as they are, without any call', () => {
  test.each([
    ['AIzaSyTest', { 'x-goog-api-key': 'AIzaSyTest' }],
    ['AQ.test', { 'x-goog-api-key': 'AQ.test' }],
    ['ya29.test', { authorization: 'Bearer ya29.test' }],
  ])('%s', async (secret, headers) => {
    const { headers: made, upstream } = bench(`${secret}\n`)
    expect(await made()).toEqual(headers)
    expect(upstream.requests).toEqual([])
  })

  test('and nothing fresher can be had after a 401', () => {
    expect(bench('ya29.test').authorize.renew).toBeUndefined()
  })
})
test('a secret that cannot be used fails the request, not the snapshot', async () => {
  const { headers, upstream } = bench('{')
  expect(await failureOf(headers())).toEqual({
    kind: 'no-credential',
    message: 'the Google credential cannot be used: the credentials are not valid JSON',
  })
  expect(upstream.requests).toEqual([])
})
/** A host with these files, which keeps what was read. */
function files(content: Record<string, string>) {
  const read: string[] = []
  const readFile = async (path: string) => {
    read.push(path)
    const text = content[path]
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return text
  }
  return { content, read, readFile }
}
describe('a path', () => {
  test('is read once, for the first request', async () => {
    const { read, readFile } = files({ '/run/sa.json': `${JSON.stringify(serviceAccount)}\n` })
    const { authorize, headers, upstream } = bench('/run/sa.json', { readFile })
    upstream.next(token('t1'), token('t2'))
    expect(read).toEqual([])
    const [refused = {}] = await Promise.all([headers(), headers()])
    await headers()
    expect(upstream.requests).toHaveLength(1)
    expect(read.length).toBeLessThanOrEqual(2)
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('may begin with the home directory', async () => {
    const { read, readFile } = files({})
    await failureOf(bench('~/sa.json', { readFile, env: { HOME: '/home/$&' } }).headers())
    await failureOf(bench('~/sa.json', { readFile }).headers())
    expect(read).toEqual(['/home/$&/sa.json', '~/sa.json'])
  })

  test('that cannot be read is no credential, until it can', async () => {
    const { content, readFile } = files({})
    const { headers, upstream } = bench('/run/sa.json', { readFile })
    upstream.next(token('t1'))
    expect(await failureOf(headers())).toEqual({
      kind: 'no-credential',
      message: 'the Google credential cannot be used: the file it names cannot be read',
      reason: 'ENOENT',
    })
    content['/run/sa.json'] = JSON.stringify(serviceAccount)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
  })

  test.each(['AIzaSyTest', '', '{"type":"service_account"}'])(
    'of a file that holds no credentials JSON is no credential: %s',
    async (content) => {
      const { readFile } = files({ '/run/sa': content })
      const failure = await failureOf(bench('/run/sa', { readFile }).headers())
      expect(failure).toMatchObject({ kind: 'no-credential' })
    },
  )

  test('means nothing to a host without files', async () => {
    expect(await failureOf(bench('/run/sa').headers())).toEqual({
      kind: 'no-credential',
      message:
        'the Google credential cannot be used: it names a file, but this host cannot read files',
    })
  })
})
