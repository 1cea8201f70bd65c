import { describe, expect, test } from 'vitest'
import { loadConfig, readServerSettings } from '../../src/config/index.ts'
import { createLoader } from '../../src/reload/index.ts'
import { kinds, listProblems } from './support.ts'

const rule = 'server.workers (line 1): must be a whole number from 1 to 256, or "auto"'
const needsShared =
  'with auth on, several workers need [shared], because each would grant the full budgets and rate limits'

describe('server.workers', () => {
  test.each(['1', '2', '256', '"auto"'])('may be %s', async (value) => {
    expect(await listProblems(`server.workers = ${value}`)).toEqual([])
  })

  test.each(['0', '257', '1.5', '-1', '"two"', 'true'])('may not be %s', async (value) => {
    expect(await listProblems(`server.workers = ${value}`)).toEqual([rule])
  })

  test.each([
    ['3', 3],
    ['auto', 'auto'],
  ])('may be %s in the environment', async (value, expected) => {
    const env = { GATEWAY_SERVER__WORKERS: value }
    const loaded = await loadConfig({ text: '', env, kinds })
    expect(loaded.ok && loaded.config.server.workers).toBe(expected)
    expect(readServerSettings('', env).workers).toBe(expected)
  })

  test.each(['2', '"auto"'])(
    'of %s is refused with auth on but without [shared]',
    async (value) => {
      const file = `server.workers = ${value}\nauth.enabled = true`
      expect(await listProblems(file)).toEqual([`server.workers (line 1): ${needsShared}`])
      const url = 'redis://localhost'
      expect(await listProblems(`${file}\nshared.url = "${url}"`)).toEqual([])
      expect(await listProblems('server.workers = 1\nauth.enabled = true')).toEqual([])
    },
  )

  test('causes no second problem when auth is malformed', async () => {
    expect(await listProblems('server.workers = 2\nauth.enabled = "yes"')).toEqual([
      'auth.enabled (line 2): must be true or false',
    ])
  })

  test('is read from a configuration with other problems', () => {
    const settings = readServerSettings('server.workers = 4\nserver.port = 0\nserver.x = 1', {})
    expect(settings).toMatchObject({ workers: 4, port: 8080, host: '127.0.0.1' })
    expect(readServerSettings('[', {}).workers).toBe(1)
  })

  test('of several is warned about on a host that is one process', async () => {
    const warn = async (text: string, ports: object) => {
      const loaded = await createLoader({ upstream: {}, ...ports })(text)
      return loaded.ok ? loaded.warnings.filter((line) => line.includes('workers')) : []
    }
    expect(await warn('server.workers = 2', {})).toEqual([
      'server.workers has no effect, because this host is one process; the command gateway starts workers',
    ])
    expect(await warn('server.workers = 2', { workers: {} })).toEqual([])
    expect(await warn('server.workers = "auto"', {})).toEqual([])
  })
})
