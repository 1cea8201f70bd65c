import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway } from './support.ts'

describe('the address', () => {
  test.each([
    ['', 'https://co.test/v2/chat'],
    ['/', 'https://co.test/v2/chat'],
    ['/v1', 'https://co.test/v2/chat'],
    ['/v2/', 'https://co.test/v2/chat'],
    ['/v2/chat', 'https://co.test/v2/chat'],
    ['/compatibility/v1', 'https://co.test/v2/chat'],
    ['/compatibility/v1/chat/completions', 'https://co.test/v2/chat'],
    ['/team/cohere', 'https://co.test/team/cohere/v2/chat'],
    ['/team/v2?tenant=7#top', 'https://co.test/team/v2/chat?tenant=7'],
  ])('a base_url ending in %j gives the v2 address', async (path, url) => {
    const { chat, upstream } = await cohereGateway(`base_url = "https://co.test${path}"`)
    upstream.next(json(answered({})))
    await chat(asking())
    expect(upstream.requests[0]?.url).toBe(url)
  })
})
