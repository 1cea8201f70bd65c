import { describe, expect, test } from 'vitest'
import type { ImageFetchPort, PinnedRequest, UpstreamRequest } from '../../src/index.ts'
import { expectErrorShape } from '../support/contract.ts'
import { readOkBody } from '../support/embed.ts'
import { postEmbeddings } from '../support/embed-kinds.ts'
import type { TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import {
  broken,
  json,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const png = 'data:image/png;base64,iVBORw0KGgo='

function config(fetching = '', kind = 'voyage'): string {
  return `
[image_fetch]
enabled = true
allowed_hosts = ["img.test", ".cdn.test", "93.184.215.14", "[2606:4700::1111]", "other.test", "inner.test", "127.0.0.1", "bad.test"]
${fetching}
[[providers]]
name = "p"
kind = "${kind}"
base_url = "http://p.test/v1"
[[providers.models]]
id = "m"
capabilities = ["embed"]
modalities = ["text", "image"]
[[providers.models]]
id = "blind"
capabilities = ["embed"]
[[providers.models]]
id = "half"
capabilities = ["embed"]
modalities = ["text", "image"]
fallbacks = ["blind"]
`
}

/** A network in memory: the addresses of each host name, and the response at each URL. */
class FakeWeb implements ImageFetchPort {
  readonly names: Record<string, readonly string[]> = {
    'img.test': ['93.184.215.14'],
    'a.cdn.test': ['93.184.215.15'],
    'other.test': ['93.184.215.16'],
    'inner.test': ['10.0.0.7'],
    'bad.test': ['93.184.215.14', '127.0.0.1'],
  }
  readonly pages: Record<string, Responder> = {}
  readonly requests: PinnedRequest[] = []
  /** The requests go through a proxy, which resolves all names itself. */
  isProxied = false

  async resolve(host: string): Promise<readonly string[] | 'at-proxy'> {
    if (this.isProxied) return 'at-proxy'
    const addresses = this.names[host]
    if (!addresses) throw new Error('ENOTFOUND')
    return addresses
  }

  fetch(request: PinnedRequest) {
    this.requests.push(request)
    const page = this.pages[request.url] ?? whole('', { status: 404 })
    return page(request as unknown as UpstreamRequest)
  }
}

const picture = whole(Uint8Array.of(1, 2, 3), { headers: { 'content-type': 'image/png' } })

function redirect(location: string): Responder {
  return whole('', { status: 302, headers: { location } })
}

async function fetchingGateway(settings = ''): Promise<TestGateway & { web: FakeWeb }> {
  const web = new FakeWeb()
  const gateway = await watchedGateway(config(settings), { imageFetch: web })
  gateway.upstream.always(json({ data: [{ embedding: [1] }], usage: { total_tokens: 5 } }))
  return { ...gateway, web }
}

function image(url: unknown, model = 'm'): object {
  return { model, input: [[{ type: 'image_url', image_url: url }]] }
}

describe('checks before any upstream call', () => {
  test.each([
    ['an image for a model without the modality', image(png, 'blind'), 'LM-2003'],
    ['an image for a text-only fallback', image(png, 'half'), 'LM-2003'],
    ['a text that is not a URL', image('img.png'), 'LM-1001'],
    ['a file', image('file:///etc/passwd'), 'LM-1001'],
    ['an invalid data URI', image('data:image/png,abc'), 'LM-1001'],
    ['a data URI of another type', image('data:text/html;base64,aaaa'), 'LM-1001'],
    ['a reference to a Google file', image('gs://bucket/a.png'), 'LM-2008'],
    ['a reference to an Anthropic file', image('anthropic-file:file_1'), 'LM-2008'],
  ])('%s is refused', async (_, body, code) => {
    const gateway = await fetchingGateway()
    const response = await postEmbeddings(gateway, body)
    expect(response.status).toBe(400)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code, param: 'input.0.0.image_url' })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('an image for a kind without image input is refused, and the kind is named', async () => {
    const gateway = await watchedGateway(config('', 'tei'))
    const error = await expectErrorShape(await postEmbeddings(gateway, image(png)))
    expect(error.code).toBe('LM-1001')
    expect(error.message).toContain('(tei)')
  })
})

describe('Cloud Storage addresses', () => {
  const vertex = (upstreamId: string, fallbacks = '[]') => `
[[providers]]
name = "v"
kind = "vertex_ai"
base_url = "https://v.test/v1/projects/p/locations/l"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
capabilities = ["embed"]
modalities = ["text", "image"]
fallbacks = ${fallbacks}
[[providers]]
name = "q"
kind = "voyage"
[[providers.models]]
id = "other"
capabilities = ["embed"]
modalities = ["text", "image"]
`
  const stored = image('gs://bucket/a.png')

  test('a Cloud Storage address passes to the multimodal model of Vertex unchanged', async () => {
    const gateway = await watchedGateway(vertex('multimodalembedding@001'))
    gateway.upstream.next(json({ predictions: [{ imageEmbedding: [1, 2] }] }))
    const { data } = await readOkBody(await postEmbeddings(gateway, stored))
    expect(data).toMatchObject([{ embedding: [1, 2] }])
    expect(gateway.upstream.body()).toEqual({
      instances: [{ image: { gcsUri: 'gs://bucket/a.png' } }],
    })
  })

  test.each([
    ['a model that takes inline images only', vertex('gemini-embedding-2')],
    ['a fallback that cannot read it', vertex('multimodalembedding@001', '["other"]')],
  ])('a Cloud Storage address is refused for %s', async (_, settings) => {
    const gateway = await watchedGateway(settings)
    const response = await postEmbeddings(gateway, stored)
    expect(response.status).toBe(400)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-1001', param: 'input.0.0.image_url' })
    expect(gateway.upstream.requests).toEqual([])
  })
})

test('items of several texts need no image modality', async () => {
  const gateway = await fetchingGateway()
  const texts = ['a', 'b'].map((text) => ({ type: 'text', text }))
  const response = await postEmbeddings(gateway, { model: 'blind', input: [texts] })
  expect(response.status).toBe(200)
  expect(gateway.upstream.body()).toEqual({ model: 'blind', input: ['a b'] })
})

test.each([
  ['AAAA', 3],
  ['AAA=', 2],
  ['AA==', 1],
  ['AAA', 2],
  ['AA', 1],
])('the image %s counts %i bytes without its padding', async (base64, bytes) => {
  const gateway = await fetchingGateway()
  gateway.upstream.next(json({ data: [{ embedding: [1] }] }))
  await postEmbeddings(gateway, image({ url: `data:image/png;base64,${base64}` }))
  const line = gateway.log.find(({ message }) => message === 'request')
  expect(line?.fields).toMatchObject({ media_bytes: bytes })
})

test('images are counted, and estimated by their detail when the vendor does not count them', async () => {
  const gateway = await fetchingGateway()
  gateway.upstream.next(json({ data: [{ embedding: [1] }, { embedding: [2] }] }))
  const low = { type: 'image_url', image_url: { url: png, detail: 'low' } }
  const high = { type: 'image_url', image_url: { url: png } }
  const input = [[low, { type: 'text', text: 'four' }], [high]]
  const { usage } = await readOkBody(await postEmbeddings(gateway, { model: 'm', input }))
  expect(usage).toMatchObject({ prompt_tokens: 85 + 1 + 765, estimated: true })
  const line = gateway.log.find(({ message }) => message === 'request')
  expect(line?.fields).toMatchObject({ media_count: 2, media_bytes: 16 })
  const metrics = await (await gateway.get('/metrics')).text()
  expect(metrics).toContain('gateway_media_total{capability="embed",model="m",provider="p"} 2')
})

describe('remote images', () => {
  test('a remote image is LM-2005 while fetching is off', async () => {
    const gateway = await watchedGateway(config().replace('enabled = true', 'enabled = false'), {
      imageFetch: new FakeWeb(),
    })
    const response = await postEmbeddings(gateway, image('https://img.test/a.png'))
    expect(response.status).toBe(400)
    expect((await expectErrorShape(response)).code).toBe('LM-2005')
  })

  test('a remote image is LM-2005 on a host that cannot fetch', async () => {
    const gateway = await watchedGateway(config())
    const response = await postEmbeddings(gateway, image('https://img.test/a.png'))
    expect((await expectErrorShape(response)).code).toBe('LM-2005')
  })

  test('a remote image is fetched from the checked address and sent as a data URI', async () => {
    const gateway = await fetchingGateway()
    gateway.web.pages['https://img.test/a.png'] = picture
    const response = await postEmbeddings(gateway, image({ url: 'https://img.test/a.png' }))
    expect(response.status).toBe(200)
    expect(gateway.web.requests).toMatchObject([{ address: '93.184.215.14' }])
    expect(gateway.web.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(gateway.upstream.body()).toMatchObject({
      inputs: [{ content: [{ image_base64: 'data:image/png;base64,AQID' }] }],
    })
  })

  test('a remote image is fetched once, however often it occurs', async () => {
    const gateway = await fetchingGateway()
    gateway.web.pages['https://img.test/a.png'] = picture
    gateway.upstream.next(json({ data: [{ embedding: [1] }, { embedding: [2] }] }))
    const part = { type: 'image_url', image_url: 'https://img.test/a.png' }
    const response = await postEmbeddings(gateway, { model: 'm', input: [[part], [part]] })
    expect(response.status).toBe(200)
    expect(gateway.web.requests).toHaveLength(1)
  })

  test('a fetch follows up to three redirects, also to another host', async () => {
    const gateway = await fetchingGateway()
    Object.assign(gateway.web.pages, {
      'https://img.test/1': redirect('/2'),
      'https://img.test/2': redirect('https://a.cdn.test/3'),
      'https://a.cdn.test/3': redirect('4'),
      'https://a.cdn.test/4': picture,
    })
    expect((await postEmbeddings(gateway, image('https://img.test/1'))).status).toBe(200)
    expect(gateway.web.requests.map(({ address }) => address)).toEqual([
      '93.184.215.14',
      '93.184.215.14',
      '93.184.215.15',
      '93.184.215.15',
    ])
  })

  test.each<[string, string, string]>([
    ['another scheme', 'http://img.test/a.png', 'scheme'],
    ['a host that is not listed', 'https://evil.test/a.png', 'host'],
    ['a host that only ends like a listed one', 'https://evilimg.test/a.png', 'host'],
    ['the parent of listed subdomains', 'https://cdn.test/a.png', 'host'],
    ['a user name', 'https://user:pw@img.test/a.png', 'credentials'],
    ['a private address behind a name', 'https://inner.test/a.png', 'private address'],
    ['a private address among others', 'https://bad.test/a.png', 'private address'],
    ['a private address itself, although listed', 'https://127.0.0.1/a.png', 'private address'],
    ['a private address in another notation', 'https://0x7f.1/a.png', 'private address'],
    ['too many redirects', 'https://img.test/loop', 'redirects'],
    ['a redirect to a private address', 'https://img.test/in', 'private address'],
    ['a redirect to another scheme', 'https://img.test/down', 'scheme'],
    ['an HTML page', 'https://img.test/page', 'type'],
    ['an SVG image', 'https://img.test/svg', 'type'],
    ['a declared length over the limit', 'https://img.test/declared', 'size'],
    ['an undeclared length over the limit', 'https://img.test/streamed', 'size'],
  ])('a fetch is LM-2006 for %s, and only the log has the reason', async (_, url, reason) => {
    const gateway = await fetchingGateway('max_bytes = 5')
    const type = { 'content-type': 'image/png' }
    Object.assign(gateway.web.pages, {
      'https://img.test/loop': redirect('https://img.test/loop'),
      'https://img.test/in': redirect('https://inner.test/a.png'),
      'https://img.test/down': redirect('http://img.test/a.png'),
      'https://img.test/page': whole('<p>', { headers: { 'content-type': 'text/html' } }),
      'https://img.test/svg': whole('<svg/>', { headers: { 'content-type': 'image/svg+xml' } }),
      'https://img.test/declared': whole('abc', { headers: { ...type, 'content-length': '6' } }),
      'https://img.test/streamed': stream(['abc', 'def'], { headers: type }),
    } satisfies Record<string, Responder>)
    const response = await postEmbeddings(gateway, image(url))
    expect(response.status).toBe(400)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-2006', message: 'the remote image was refused' })
    expect(gateway.log.find(({ message }) => message === 'image refused')?.fields).toMatchObject({
      reason,
    })
    expect(gateway.upstream.requests).toEqual([])
    expect(JSON.stringify(gateway.log)).not.toContain('img.test')
  })

  test('behind a proxy an image is requested by host name, and a private address never is', async () => {
    const gateway = await fetchingGateway()
    gateway.web.isProxied = true
    gateway.web.pages['https://img.test/a.png'] = picture
    expect((await postEmbeddings(gateway, image('https://img.test/a.png'))).status).toBe(200)
    expect(gateway.web.requests).toMatchObject([{ address: undefined }])
    for (const host of ['127.0.0.1', '[::1]', '0xa000001']) {
      const response = await postEmbeddings(gateway, image(`https://${host}/a.png`))
      expect((await expectErrorShape(response)).code).toBe('LM-2006')
    }
    expect(gateway.web.requests).toHaveLength(1)
  })

  test('a host must match both lists when both are set', async () => {
    const gateway = await fetchingGateway('allowed_url_prefixes = ["https://img.test/public/"]')
    gateway.web.pages['https://img.test/public/a.png'] = picture
    expect((await postEmbeddings(gateway, image('https://img.test/public/a.png'))).status).toBe(200)
    for (const path of ['/private/a.png', '/public/../private/a.png', '/public']) {
      const response = await postEmbeddings(gateway, image(`https://img.test${path}`))
      expect((await expectErrorShape(response)).code).toBe('LM-2006')
    }
  })

  test('too many remote images are LM-2006', async () => {
    const gateway = await fetchingGateway('max_images = 2')
    const input = ['1', '2', '3'].map((name) => [
      { type: 'image_url', image_url: `https://img.test/${name}` },
    ])
    const error = await expectErrorShape(await postEmbeddings(gateway, { model: 'm', input }))
    expect(error).toMatchObject({ code: 'LM-2006', param: 'input.2.0.image_url' })
    expect(gateway.web.requests).toEqual([])
  })

  test.each<[string, Responder]>([
    ['does not exist', whole('', { status: 404 })],
    ['is behind a redirect to nowhere', whole('', { status: 302 })],
    ['cannot be reached', broken()],
    [
      'breaks off',
      stream(['a'], {
        headers: { 'content-type': 'image/png' },
        failure: { kind: 'network', reason: 'ECONNRESET' },
      }),
    ],
    ['is empty', whole('', { headers: { 'content-type': 'image/png' } })],
  ])('a fetch is LM-2007 when it %s', async (_, page) => {
    const gateway = await fetchingGateway()
    gateway.web.pages['https://img.test/a.png'] = page
    const response = await postEmbeddings(gateway, image('https://img.test/a.png'))
    expect(response.status).toBe(502)
    expect((await expectErrorShape(response)).code).toBe('LM-2007')
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a fetch is LM-2007 when its host has no address', async () => {
    const gateway = await fetchingGateway()
    const response = await postEmbeddings(gateway, image('https://b.cdn.test/a.png'))
    expect((await expectErrorShape(response)).code).toBe('LM-2007')
  })

  test('a fetch is LM-2007 when it exceeds its timeout, redirects included', async () => {
    const gateway = await fetchingGateway('timeout_ms = 1000')
    gateway.web.pages['https://img.test/a.png'] = silent()
    const answer = postEmbeddings(gateway, image('https://img.test/a.png'))
    await gateway.clock.advance(999)
    expect(gateway.web.requests[0]?.signal.aborted).toBe(false)
    await gateway.clock.advance(1)
    expect((await expectErrorShape(await answer)).code).toBe('LM-2007')
    expect(gateway.web.requests[0]?.signal.aborted).toBe(true)
  })

  test('a fetch ends when the client leaves', async () => {
    const gateway = await fetchingGateway()
    gateway.web.pages['https://img.test/a.png'] = silent()
    const abort = new AbortController()
    const request = new Request('http://gateway.test/v1/embeddings', {
      method: 'POST',
      body: JSON.stringify(image('https://img.test/a.png')),
      signal: abort.signal,
    })
    const answer = gateway.gateway.fetch(request)
    await settled()
    abort.abort()
    expect((await answer).status).toBe(499)
    expect(gateway.web.requests[0]?.signal.aborted).toBe(true)
  })
})
