import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message } from './support.ts'

describe('the address', () => {
  test.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
    ['https://proxy.test/claude/', 'https://proxy.test/claude/v1/messages'],
    ['https://proxy.test/claude/v1/', 'https://proxy.test/claude/v1/messages'],
    ['https://proxy.test/v1/messages', 'https://proxy.test/v1/messages'],
    [
      'http://127.0.0.1:4000/anthropic?tenant=a',
      'http://127.0.0.1:4000/anthropic/v1/messages?tenant=a',
    ],
  ])('base_url %s is called at %s', async (baseUrl, url) => {
    const { chat, upstream } = await anthropicGateway({ settings: `base_url = "${baseUrl}"` })
    upstream.next(json(message([])))
    await chat(asking())
    expect(upstream.requests[0]?.url).toBe(url)
  })
})

const stored = {
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'anthropic-file:file_1' } },
      ],
    },
  ],
}

describe('the credential', () => {
  test('an API key is sent as x-api-key, and in no other header', async () => {
    const { chat, upstream } = await anthropicGateway({ secret: 'sk-ant-api03-secret' })
    upstream.next(json(message([])))
    await chat(asking())
    const headers = upstream.requests[0]?.headers
    expect(headers).toMatchObject({
      'x-api-key': 'sk-ant-api03-secret',
      'anthropic-version': '2023-06-01',
    })
    expect(headers).not.toHaveProperty('authorization')
    expect(headers).not.toHaveProperty('anthropic-beta')
  })

  test('an OAuth token is sent as a bearer token, with the beta feature that it needs', async () => {
    const { chat, upstream } = await anthropicGateway({ secret: 'sk-ant-oat01-secret' })
    upstream.next(json(message([])), json(message([])))
    await chat(asking())
    await chat(asking(stored))
    const [plain, withFile] = upstream.requests
    expect(plain?.headers).toMatchObject({
      authorization: 'Bearer sk-ant-oat01-secret',
      'anthropic-beta': 'oauth-2025-04-20',
    })
    expect(plain?.headers).not.toHaveProperty('x-api-key')
    expect(withFile?.headers['anthropic-beta']).toBe('files-api-2025-04-14,oauth-2025-04-20')
  })

  test('a compatible server without api_key_env gets no credential', async () => {
    const { chat, upstream } = await anthropicGateway({
      credential: '',
      settings: 'base_url = "http://own.test"',
    })
    upstream.next(json(message([])))
    await chat(asking())
    expect(upstream.requests[0]?.headers).not.toHaveProperty('x-api-key')
  })
})
