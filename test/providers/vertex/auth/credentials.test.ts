import { describe, expect, test } from 'vitest'
import { bench, failureOf, serviceAccount, token } from '../support.ts'

describe('API keys and access tokens', () => {
  test.each([
    ['AIzaSyTest', { 'x-goog-api-key': 'AIzaSyTest' }],
    ['AQ.test', { 'x-goog-api-key': 'AQ.test' }],
    ['ya29.test', { authorization: 'Bearer ya29.test' }],
  ])('the secret %s is sent unchanged, without any call', async (secret, headers) => {
    const { headers: made, upstream } = bench(`${secret}\n`)
    expect(await made()).toEqual(headers)
    expect(upstream.requests).toEqual([])
  })

  test('an access token has no renewal after a 401', () => {
    expect(bench('ya29.test').authorize.renew).toBeUndefined()
  })
})
test('an unusable secret fails the request, not the snapshot', async () => {
  const { headers, upstream } = bench('{')
  expect(await failureOf(headers())).toEqual({
    kind: 'no-credential',
    message: 'the Google credential cannot be used: the credentials are not valid JSON',
  })
  expect(upstream.requests).toEqual([])
})
/** A host with these files; it records which of them were read. */
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
describe('a path of a credentials file', () => {
  test('a credentials file is read once, on the first request', async () => {
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

  test('the path of a credentials file may begin with ~', async () => {
    const { read, readFile } = files({})
    await failureOf(bench('~/sa.json', { readFile, env: { HOME: '/home/$&' } }).headers())
    await failureOf(bench('~/sa.json', { readFile }).headers())
    expect(read).toEqual(['/home/$&/sa.json', '~/sa.json'])
  })

  test('an unreadable file fails requests until it becomes readable', async () => {
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
    'a file without credentials JSON is not a credential: %s',
    async (content) => {
      const { readFile } = files({ '/run/sa': content })
      const failure = await failureOf(bench('/run/sa', { readFile }).headers())
      expect(failure).toMatchObject({ kind: 'no-credential' })
    },
  )

  test('a path fails the request on a host without files', async () => {
    expect(await failureOf(bench('/run/sa').headers())).toEqual({
      kind: 'no-credential',
      message:
        'the Google credential cannot be used: it names a file, but this host cannot read files',
    })
  })
})
