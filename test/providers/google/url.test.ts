import { describe, expect, test } from 'vitest'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, end, googleGateway, saying } from './support.ts'

describe('address', () => {
  test.each([
    ['https://proxy.test', 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test/', 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test/v1', 'gemini-2.5-flash', '/v1/models/gemini-2.5-flash'],
    ['https://proxy.test/v1alpha/', 'gemini-2.5-flash', '/v1alpha/models/gemini-2.5-flash'],
    ['https://proxy.test/google/', 'gemini-2.5-flash', '/google/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test', 'models/gemini-2.5-pro', '/v1beta/models/gemini-2.5-pro'],
    ['https://proxy.test', 'tunedModels/mine', '/v1beta/tunedModels/mine'],
  ])('base_url %s and model %s give the path %s', async (base, upstreamId, path) => {
    const settings = `base_url = "${base}"`
    const { chat, upstream } = await googleGateway({ upstreamId, settings })
    upstream.next(json(saying('Hi')))
    await chat(asking())
    expect(upstream.requests[0]?.url).toBe(`https://proxy.test${path}:generateContent`)
  })

  test('the query of base_url is kept', async () => {
    const settings = 'base_url = "https://proxy.test/?team=a"'
    const { chat, upstream } = await googleGateway({ settings })
    upstream.next(json(saying('Hi')), stream([end]))
    await chat(asking())
    await chat(asking({ stream: true }))
    const queries = upstream.requests.map(({ url }) => new URL(url).search)
    expect(queries).toEqual(['?team=a', '?team=a&alt=sse'])
  })

  test('the API key is sent in its header only, without surrounding white space', async () => {
    const { chat, upstream } = await googleGateway({}, 'AIza-canary \n')
    upstream.next(json(saying('Hi')))
    await chat(asking())
    const [request] = upstream.requests
    expect(request?.headers['x-goog-api-key']).toBe('AIza-canary')
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(request?.url).not.toContain('canary')
  })

  test('gemini is an alias of the kind', async () => {
    const { chat, upstream } = await googleGateway({ kind: 'gemini' })
    upstream.next(json(saying('Hi')))
    expect((await chat(asking())).status).toBe(200)
  })
})
