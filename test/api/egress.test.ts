import { describe, expect, test } from 'vitest'
import { ConfigError, createGateway, type Egress, type GatewayOptions } from '../../src/index.ts'
import { asking, saying, serviceAccount, token } from '../providers/vertex/support.ts'
import { completion } from '../support/answers.ts'
import { readError, type TestGateway } from '../support/gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken, json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * The egress settings of a provider (proxy and `ca_file`) in the requests that the port receives.
 */

const pem = '-----BEGIN CERTIFICATE-----\nMIIBkTCCATagAwIBAgIBAjAK\n-----END CERTIFICATE-----\n'
const proxy = 'http://user:secret-canary@proxy.test:3128'

const provider = (settings: string, kind = 'openai') => `
  [[providers]]
  name = "p"
  kind = "${kind}"
  api_key_env = "P_KEY"
  base_url = "https://p.test"
  ${settings}
  models = [{ id = "m" }]
`

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

const egresses = ({ upstream }: TestGateway): (Egress | undefined)[] =>
  upstream.requests.map(({ egress }) => egress)

describe('proxy and ca_file of a provider', () => {
  test('a provider without these settings connects as the host does', async () => {
    const gateway = await watchedGateway(provider(''))
    gateway.upstream.always(json(completion()))
    await gateway.chat(request)
    expect(egresses(gateway)).toEqual([undefined])
  })

  test('a provider with a proxy and a ca_file always uses both', async () => {
    const settings = `proxy = "${proxy}"\nca_file = "/etc/ca.pem"`
    const gateway = await watchedGateway(provider(settings), { readFile: async () => pem })
    gateway.upstream.always(json(completion()))
    await gateway.chat(request)
    await gateway.chat(request)
    const [first, second] = egresses(gateway)
    expect(first).toEqual({ proxy, ca: pem })
    expect(second).toBe(first)
  })

  test('an empty proxy setting means no proxy', async () => {
    const gateway = await watchedGateway(provider('proxy = ""'))
    gateway.upstream.always(json(completion()))
    await gateway.chat(request)
    expect(egresses(gateway)).toEqual([{ proxy: '', ca: undefined }])
  })

  test('token exchanges use the same proxy and ca_file', async () => {
    const vertex = provider(`proxy = "${proxy}"`, 'vertex_ai').replace(
      'https://p.test',
      'https://p.test/v1/projects/p/locations/l',
    )
    const env = { P_KEY: JSON.stringify(serviceAccount) }
    const gateway = await watchedGateway(vertex, { env })
    gateway.upstream.next(token('t1'), json(saying('Hi')))
    expect((await gateway.chat({ ...asking(), model: 'm' })).status).toBe(200)
    expect(egresses(gateway).map((egress) => egress?.proxy)).toEqual([proxy, proxy])
  })

  test('probes use the same proxy and ca_file', async () => {
    const config = `[resilience]\nhealth_check_enabled = true\n${provider(`proxy = "${proxy}"`)}`
    const gateway = await watchedGateway(config)
    gateway.upstream.always(json({}))
    await gateway.gateway.close()
    expect(egresses(gateway)).toEqual([{ proxy, ca: undefined }])
  })

  test('a proxy that refuses is a failure that names the proxy and counts for the circuit', async () => {
    const settings = `[resilience]\nretry_max_attempts = 1\ncircuit_failure_threshold = 2\n`
    const gateway = await watchedGateway(settings + provider(`proxy = "${proxy}"`))
    const refused = { reason: 'PROXY_407', phase: 'connecting', proxy: 'proxy.test:3128' } as const
    gateway.upstream.always(broken({ kind: 'network', ...refused }))
    for (const code of ['LM-3003', 'LM-3003', 'LM-3020']) {
      const error = await readError(await gateway.chat(request))
      expect(error['code']).toBe(code)
      if (code !== 'LM-3003') continue
      expect(error['message']).toBe(
        'provider p could not be reached: the proxy proxy.test:3128 refused with status 407',
      )
    }
  })

  test('the start lines name the proxy without its credential', async () => {
    const readProxy = async (settings: string) => {
      const { gateway } = await watchedGateway(provider(settings))
      return gateway.overview.providers[0]?.proxy
    }
    expect(await readProxy(`proxy = "${proxy}"`)).toBe('http://***@proxy.test:3128')
    expect(await readProxy('proxy = ""')).toBe('none')
    expect(await readProxy('')).toBeUndefined()
  })
})

describe('ca_file', () => {
  const config = provider('ca_file = "/etc/ca.pem"')
  const readProblem = async (options: Partial<GatewayOptions>) => {
    const outcome = await createGateway({ config, ...options }).catch((error: unknown) => error)
    return outcome instanceof ConfigError ? outcome.problems : outcome
  }

  test('a ca_file that cannot be read is a boot error that names the setting', async () => {
    const missing = Object.assign(new Error('no such file: /etc/ca.pem'), { code: 'ENOENT' })
    expect(await readProblem({ readFile: () => Promise.reject(missing) })).toEqual([
      'providers[0].ca_file (line 7): cannot be read (ENOENT)',
    ])
    expect(await readProblem({})).toEqual(['providers[0].ca_file (line 7): cannot be read'])
  })

  test.each([
    '',
    'hello',
    pem.replaceAll('CERTIFICATE', 'PRIVATE KEY'),
    pem.replace('MIIB', 'what'),
  ])('a ca_file without a certificate is a boot error that names the setting: %#', async (text) => {
    expect(await readProblem({ readFile: async () => text })).toEqual([
      'providers[0].ca_file (line 7): must be a file of certificates in PEM format',
    ])
  })

  test('a ca_file may hold several certificates and other text', async () => {
    const gateway = await watchedGateway(config, { readFile: async () => `# ours\n${pem}\n${pem}` })
    expect(gateway.log).toEqual([])
  })
})

describe('reload', () => {
  /** A gateway whose `ca_file` the test can change through `authority`. */
  const reloading = async (settings: string) => {
    const file = { text: pem }
    const options = { readFile: async () => file.text }
    const gateway = await reloadingGateway(provider(settings), options)
    gateway.upstream.always(json(completion()))
    const client = await gateway.key()
    const ask = () => gateway.ask(client, request)
    return { ...gateway, authority: file, ask }
  }

  test('a reload reads the ca_file again, and an unchanged one keeps the connections', async () => {
    const gateway = await reloading('ca_file = "/etc/ca.pem"')
    await gateway.ask()
    await gateway.gateway.reload()
    await gateway.ask()
    gateway.authority.text = pem + pem
    await gateway.gateway.reload()
    await gateway.ask()
    const [first, second, third] = egresses(gateway)
    expect(second).toBe(first)
    expect(third).toEqual({ proxy: undefined, ca: pem + pem })
  })

  test('a reload with a bad ca_file is refused, and the running configuration stays', async () => {
    const gateway = await reloading('ca_file = "/etc/ca.pem"')
    gateway.authority.text = 'broken'
    await gateway.gateway.reload()
    expect(gateway.takeLogLines().filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(
        /providers\[0\]\.ca_file .*: must be a file of certificates in PEM format$/,
      ),
    ])
    expect((await gateway.ask()).status).toBe(200)
    expect(egresses(gateway)).toEqual([{ proxy: undefined, ca: pem }])
  })

  test('a reload applies another proxy', async () => {
    const gateway = await reloading(`proxy = "${proxy}"`)
    await gateway.ask()
    await gateway.change(provider('proxy = "http://other.test:1"'))
    await gateway.ask()
    expect(egresses(gateway).map((egress) => egress?.proxy)).toEqual([proxy, 'http://other.test:1'])
  })
})

test('a host that cannot use a proxy warns at the start and makes no call without it', async () => {
  const lines: string[] = []
  const gateway = await createGateway({
    config: provider(`proxy = "${proxy}"\n`),
    env: { P_KEY: 'sk-1' },
    log: () => ({ enabled: () => true, write: (_, message) => lines.push(message) }),
  })
  expect(lines).toEqual([expect.stringMatching(/^provider p has a proxy or a ca_file/)])
  const init = { method: 'POST', body: JSON.stringify(request) }
  const response = await gateway.fetch(new Request('http://g.test/v1/chat/completions', init))
  expect((await readError(response))['message']).toBe(
    'provider p could not be reached (EGRESS_NOT_SUPPORTED)',
  )
})
