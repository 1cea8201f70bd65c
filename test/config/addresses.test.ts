import { describe, expect, test } from 'vitest'
import { listProblems, loadValid } from './support.ts'

function reachedAt(url: string): string {
  return `[[providers]]\nname = "a"\nkind = "openai"\nbase_url = ${JSON.stringify(url)}`
}

describe('base_url is an http or https URL without credentials', () => {
  test.each([
    'http://localhost:8000',
    'https://api.example.com/v1/',
    'HTTPS://api.example.com?subscription-key=1',
    'http://[::1]:8000/v1',
  ])('%s is allowed', async (url) => {
    expect((await loadValid(reachedAt(url))).providers[0]?.base_url).toBe(url)
  })

  test.each([
    '',
    'api.example.com',
    'localhost',
    'us-east-1',
    'ftp://api.example.com',
    'http:/api.example.com',
    'http://',
    'http://a b',
    'http://a\n',
    'http://host:99999',
  ])('%j is refused', async (url) => {
    expect(await listProblems(reachedAt(url))).toEqual([
      'providers[0].base_url (line 4): must be an http or https URL',
    ])
  })

  test.each(['https://user:canary@api.example.com', 'https://canary@api.example.com'])(
    'credentials in it are refused and not repeated: %s',
    async (url) => {
      expect(await listProblems(reachedAt(url))).toEqual([
        'providers[0].base_url (line 4): must not contain a user name or password: name the variable of the key in api_key_env',
      ])
    },
  )
})

describe('the proxy of a provider is an http or https URL, or empty', () => {
  const through = (address: string) =>
    `[[providers]]\nname = "a"\nkind = "openai"\nproxy = ${JSON.stringify(address)}`

  test.each([
    '',
    'http://proxy.corp:3128',
    'http://proxy.corp:3128/',
    'https://user:secret@proxy.corp',
    'http://[2001:db8::1]:3128',
  ])('%j is allowed', async (address) => {
    expect((await loadValid(through(address))).providers[0]?.proxy).toBe(address)
  })

  test.each([
    'proxy.corp:3128',
    'socks5://canary@proxy.corp:1080',
    'http://canary@proxy.corp/path',
    'http://canary@proxy.corp?a=b',
    'http://',
  ])('%j is refused, and not repeated', async (address) => {
    expect(await listProblems(through(address))).toEqual([
      'providers[0].proxy (line 4): must be an http or https URL without a path, or "" for no proxy',
    ])
  })
})

function hosts(host: string): string {
  return `[image_fetch]\nallowed_hosts = [${JSON.stringify(host)}]`
}

function prefixes(url: string): string {
  return `[image_fetch]\nallowed_url_prefixes = [${JSON.stringify(url)}]`
}

describe('the hosts and URL prefixes of image_fetch', () => {
  test.each([
    ['example.com', 'example.com'],
    ['.CDN.example.com', '.cdn.example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['[2001:DB8::1]', '[2001:db8::1]'],
  ])('host %s is kept as %s', async (host, kept) => {
    expect((await loadValid(hosts(host))).image_fetch.allowed_hosts).toEqual([kept])
  })

  test.each([
    '',
    'https://example.com',
    'example.com:443',
    'example.com/a',
    '*.example.com',
    'a..b',
  ])('host %j is refused', async (host) => {
    const [problem] = await listProblems(hosts(host))
    expect(problem).toContain('image_fetch.allowed_hosts[0] (line 2): must be a host name')
  })

  test.each([
    ['https://Example.com/images/', 'https://example.com/images/'],
    ['https://example.com/a/../b', 'https://example.com/b'],
  ])('prefix %s is kept as %s', async (url, kept) => {
    expect((await loadValid(prefixes(url))).image_fetch.allowed_url_prefixes).toEqual([kept])
  })

  test('a prefix that ends with its host does not match longer host names', async () => {
    const config = await loadValid(prefixes('https://example.com'))
    expect(config.image_fetch.allowed_url_prefixes).toEqual(['https://example.com/'])
  })

  test.each(['example.com/images', 'file:///etc', 'https://'])(
    'prefix %s is refused',
    async (url) => {
      expect(await listProblems(prefixes(url))).toEqual([
        'image_fetch.allowed_url_prefixes[0] (line 2): must be an http or https URL',
      ])
    },
  )
})

describe('an origin is written as browsers write it', () => {
  const origins = (origin: string) => `[server]\ncors_origins = [${JSON.stringify(origin)}]`

  test.each([
    '*',
    'https://app.example.com',
    'http://localhost:5173',
    'http://[::1]:8080',
    'chrome-extension://abcdefghijklmnop',
    'tauri://localhost',
  ])('%s is allowed', async (origin) => {
    expect((await loadValid(origins(origin))).server.cors_origins).toEqual([origin])
  })

  test.each([
    '',
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'https://*.example.com',
    'null',
  ])('%j is refused', async (origin) => {
    expect(await listProblems(origins(origin))).toEqual([
      'server.cors_origins[0] (line 2): must be "*" or an origin as browsers write it, without a path: https://app.example.com',
    ])
  })
})
