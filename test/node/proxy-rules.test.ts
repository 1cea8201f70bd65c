import { describe, expect, test } from 'vitest'
import { createEgressPaths } from '../../adapters/node/upstream/egress-path.ts'
import { readProxyRules } from '../../adapters/node/upstream/proxy-rules.ts'
import type { Environment } from '../../src/index.ts'

/** `host:port` of the proxy for an address; undefined when there is none. */
function proxyFor(env: Environment, url = 'https://api.vendor.test/v1') {
  return readProxyRules(env).proxyFor(new URL(url))?.name
}

const both = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128' }

describe('the proxy variables', () => {
  test.each<readonly [Environment, string, string | undefined]>([
    [both, 'https://vendor.test', 'secure:3128'],
    [both, 'http://vendor.test', 'plain:3128'],
    [{ HTTPS_PROXY: 'http://secure:3128' }, 'http://vendor.test', undefined],
    [{ HTTP_PROXY: 'http://plain:3128' }, 'https://vendor.test', undefined],
    [{ https_proxy: 'http://lower:1', ...both }, 'https://vendor.test', 'lower:1'],
    [{ https_proxy: '', ...both }, 'https://vendor.test', 'secure:3128'],
    [{ ALL_PROXY: 'http://all:1' }, 'https://vendor.test', undefined],
    [{}, 'https://vendor.test', undefined],
  ])('%j and %s lead to %s', (env, url, name) => {
    expect(proxyFor(env, url)).toBe(name)
  })

  test.each([
    ['http://proxy:3128/', 'proxy:3128'],
    ['proxy:3128', 'proxy:3128'],
    ['http://proxy', 'proxy:80'],
    ['https://proxy', 'proxy:443'],
    ['http://user:secret@[::1]:3128', '[::1]:3128'],
  ])('the address %s gives the proxy %s', (address, name) => {
    expect(proxyFor({ HTTPS_PROXY: address })).toBe(name)
  })

  test.each(['socks5://user:canary@proxy:1080', 'http://', 'http://canary:a:b'])(
    'the address %s is refused, and is not repeated',
    (address) => {
      expect(() => readProxyRules({ https_proxy: address })).toThrow(
        /^HTTPS_PROXY must be an http or https URL$/,
      )
    },
  )

  test('the proxies in force are shown without credentials', () => {
    const env = { HTTPS_PROXY: 'http://user:canary@secure:3128', NO_PROXY: '.corp,10.0.0.0/8' }
    expect(readProxyRules(env).logFields).toEqual({
      https_proxy: 'http://***@secure:3128',
      no_proxy: '.corp,10.0.0.0/8',
    })
    expect(readProxyRules({ NO_PROXY: '.corp' }).logFields).toBeUndefined()
  })
})

describe('NO_PROXY', () => {
  const isExempt = (list: string, url: string) =>
    proxyFor({ ...both, NO_PROXY: list }, url) === undefined

  test.each([
    ['*', 'https://vendor.test'],
    ['vendor.test', 'https://vendor.test'],
    ['vendor.test', 'https://api.vendor.test'],
    ['.vendor.test', 'https://vendor.test'],
    ['*.vendor.test', 'https://api.vendor.test'],
    ['VENDOR.test', 'https://vendor.TEST.'],
    ['other.test, vendor.test', 'https://vendor.test'],
    ['other.test vendor.test', 'https://vendor.test'],
    ['vendor.test:443', 'https://vendor.test'],
    ['vendor.test:8080', 'http://vendor.test:8080'],
    ['192.0.2.1', 'https://192.0.2.1:8443'],
    ['192.0.2.1:80', 'http://192.0.2.1'],
    ['192.0.2.0/24', 'https://192.0.2.77'],
    ['2001:db8::1', 'https://[2001:db8::1]'],
    ['[2001:db8::1]', 'https://[2001:db8:0::1]:8443'],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]'],
    ['2001:db8::/32', 'https://[2001:db8:ffff::1]'],
    ['192.0.2.0/24', 'https://[::ffff:192.0.2.77]'],
  ])('"%s" exempts %s', (list, url) => {
    expect(isExempt(list, url)).toBe(true)
  })

  test.each([
    ['', 'https://vendor.test'],
    ['vendor.test', 'https://myvendor.test'],
    ['vendor.test', 'https://vendor.test.attacker.test'],
    ['api.vendor.test', 'https://vendor.test'],
    ['vendor.test:8443', 'https://vendor.test'],
    ['192.0.2.0/24', 'https://192.0.3.1'],
    ['192.0.2.0/24', 'https://vendor.test'],
    ['192.0.2.1:80', 'https://192.0.2.1'],
    ['.', 'https://vendor.test'],
    [', ,', 'https://vendor.test'],
  ])('"%s" does not exempt %s', (list, url) => {
    expect(isExempt(list, url)).toBe(false)
  })
})

describe('loopback', () => {
  test.each([
    'http://localhost:11434',
    'http://app.localhost',
    'http://127.0.0.1',
    'http://127.8.9.1:8000',
    'http://0x7f.1',
    'http://0.0.0.0:8000',
    'http://[::1]:8000',
    'http://[::ffff:127.0.0.1]',
  ])('%s is reached without a proxy', (url) => {
    expect(proxyFor(both, url)).toBeUndefined()
    const own = createEgressPaths(readProxyRules({}), { proxy: 'http://own:1' })
    expect(own(new URL(url)).proxy).toBeUndefined()
  })

  test.each(['http://localhost.vendor.test', 'http://10.0.0.1', 'http://[2001:db8::1]'])(
    '%s is another one',
    (url) => {
      expect(proxyFor(both, url)).toBe('plain:3128')
    },
  )
})

test('proxy = "" on a provider overrides the environment', () => {
  const url = new URL('https://vendor.test')
  expect(createEgressPaths(readProxyRules(both), { proxy: '' })(url).proxy).toBeUndefined()
  expect(createEgressPaths(readProxyRules(both), { proxy: 'http://own:1' })(url).proxy?.name).toBe(
    'own:1',
  )
  expect(createEgressPaths(readProxyRules(both), {})(url).proxy?.name).toBe('secure:3128')
})
