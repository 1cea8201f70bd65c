import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { json } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [
  { id = "blind" },
  { id = "seer", modalities = ["text", "image"] },
  { id = "seer-then-blind", modalities = ["text", "image"], fallbacks = ["seer", "blind"] },
  { id = "seer-then-google", modalities = ["text", "image"], fallbacks = ["seer", "gemini"] },
  { id = "seer-then-claude", modalities = ["text", "image"], fallbacks = ["claude"] },
]
[[providers]]
name = "g"
kind = "google"
api_key_env = "P_KEY"
models = [
  { id = "gemini", modalities = ["text", "image"] },
  { id = "gemini-then-seer", modalities = ["text", "image"], fallbacks = ["seer"] },
]
[[providers]]
name = "fetching"
kind = "google"
api_key_env = "P_KEY"
remote_images = true
models = [
  { id = "fetcher", modalities = ["text", "image"] },
  { id = "fetcher-then-google", modalities = ["text", "image"], fallbacks = ["gemini"] },
]
[[providers]]
name = "a"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "claude", modalities = ["text", "image"] }]
`

const png = 'data:image/png;base64,iVBORw0KGgo='
const remote = 'https://images.test/cat.png'

const image = (url: unknown) => ({ type: 'image_url', image_url: url })
const withParts = (model: string, ...parts: object[]) => ({
  model,
  messages: [
    { role: 'system', content: 'Look.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }, ...parts] },
  ],
})
const first = 'messages.1.content.1.image_url'

interface Row {
  readonly name: string
  readonly model: string
  readonly url: string
  readonly code: string
  readonly says: string
}

const refused: readonly Row[] = [
  {
    name: 'an image for a text-only model',
    model: 'blind',
    url: png,
    code: 'LM-2003',
    says: 'model blind',
  },
  {
    name: 'a remote image for a text-only model',
    model: 'blind',
    url: remote,
    code: 'LM-2003',
    says: 'model blind',
  },
  {
    name: 'an image for a text-only fallback',
    model: 'seer-then-blind',
    url: png,
    code: 'LM-2003',
    says: 'fallback blind',
  },
  {
    name: 'a file of another vendor for a text-only model',
    model: 'blind',
    url: 'gs://b/o',
    code: 'LM-2003',
    says: 'model blind',
  },
  {
    name: 'a remote image for a kind that takes data only',
    model: 'gemini',
    url: remote,
    code: 'LM-2004',
    says: 'model gemini',
  },
  {
    name: 'a remote image for a fallback that takes data only',
    model: 'seer-then-google',
    url: remote,
    code: 'LM-2004',
    says: 'model gemini',
  },
  {
    name: 'a remote image in capitals',
    model: 'gemini',
    url: 'HTTP://IMAGES.TEST/',
    code: 'LM-2004',
    says: 'model gemini',
  },
  {
    name: 'an image at an http URL for a provider with remote_images',
    model: 'fetcher',
    url: 'http://images.test/cat.png',
    code: 'LM-2004',
    says: 'at https addresses',
  },
  {
    name: 'a remote image for a fallback without remote_images',
    model: 'fetcher-then-google',
    url: remote,
    code: 'LM-2004',
    says: 'model gemini',
  },
  {
    name: 'an Anthropic file for OpenAI',
    model: 'seer',
    url: 'anthropic-file:file_1',
    code: 'LM-2008',
    says: 'anthropic',
  },
  {
    name: 'an Anthropic file whose only Anthropic link is a fallback',
    model: 'seer-then-claude',
    url: 'anthropic-file:file_1',
    code: 'LM-2008',
    says: 'anthropic',
  },
  {
    name: 'an Anthropic file for Google',
    model: 'gemini',
    url: 'anthropic-file:file_1',
    code: 'LM-2008',
    says: 'anthropic',
  },
  {
    name: 'a Google object for OpenAI',
    model: 'seer',
    url: 'gs://bucket/a/b.png',
    code: 'LM-2008',
    says: 'google',
  },
  {
    name: 'a Google object for Anthropic',
    model: 'claude',
    url: 'gs://bucket/a/b.png',
    code: 'LM-2008',
    says: 'google',
  },
  {
    name: 'a Google file by its URL for OpenAI',
    model: 'seer',
    url: 'https://generativelanguage.googleapis.com/v1beta/files/abc-123',
    code: 'LM-2008',
    says: 'google',
  },
]

describe('an image that some link of the chain cannot take is refused before any upstream call', () => {
  test.for(refused)('$name: $code', async ({ model, url, code, says }) => {
    const { chat, upstream } = await watchedGateway(config)
    for (const written of [{ url }, { url, detail: 'low' }, url]) {
      const response = await chat(withParts(model, image(written)))
      expect(response.status).toBe(400)
      const error = await expectErrorShape(response)
      expect(error).toMatchObject({ code, type: 'invalid_request', param: first })
      expect(error.message).toContain(says)
      expect(error.message).not.toContain('images.test')
    }
    expect(upstream.requests).toEqual([])
  })

  test('an image is found in every message, and the first one is named', async () => {
    const { chat } = await watchedGateway(config)
    const body = {
      model: 'blind',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'tool', content: [{ type: 'text', text: 'x' }, image({ url: png })] },
        { role: 'user', content: [image({ url: png })] },
      ],
    }
    expect((await expectErrorShape(await chat(body))).param).toBe('messages.1.content.1.image_url')
  })

  test('an image is found by its field even under another type', async () => {
    const { chat } = await watchedGateway(config)
    const response = await chat(
      withParts('blind', { type: 'text', text: 'x', image_url: { url: png } }),
    )
    expect((await expectErrorShape(response)).code).toBe('LM-2003')
  })
})

describe('an image that every link can take is forwarded unchanged', () => {
  test.each([
    ['a data URI', { url: png }],
    ['a remote address', { url: remote }],
    ['a bare string', remote],
    ['unknown fields', { url: remote, detail: 'original', x: [1e20] }],
    ['a text that is not a URL', { url: 'not an address' }],
    ['a vendor’s own file', { url: 'file-abc' }],
  ])('%s', async (_, written) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion()))
    const body = withParts('seer', image(written))
    expect((await chat(body)).status).toBe(200)
    expect(upstream.body()).toEqual(body)
  })

  test('text goes to a text-only model, as parts or as a string', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(json(completion()))
    expect((await chat(withParts('blind', { type: 'image_url', image_url: null }))).status).toBe(
      200,
    )
  })

  test('a Google file goes to Google, even with a fallback elsewhere', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(
      json({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }),
    )
    const response = await chat(
      withParts('gemini-then-seer', image({ url: 'gs://bucket/cat.png' })),
    )
    expect(response.status).toBe(200)
  })
})

describe('remote_images', () => {
  const answer = json({
    candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
  })

  test.each([
    ['an image', image({ url: remote }), { mimeType: 'image/png', fileUri: remote }],
    [
      'a document',
      { type: 'file', file: { file_data: 'https://files.test/a.pdf?page=1' } },
      { mimeType: 'application/pdf', fileUri: 'https://files.test/a.pdf?page=1' },
    ],
    [
      'a video, by the id of a file',
      { type: 'file', file: { file_id: 'https://files.test/watch?v=1', format: 'video/mp4' } },
      { mimeType: 'video/mp4', fileUri: 'https://files.test/watch?v=1' },
    ],
  ])('the address of %s passes to Google', async (_, part, fileData) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(answer)
    expect((await chat(withParts('fetcher', part))).status).toBe(200)
    expect(upstream.body()).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }, { fileData }] }],
    })
  })

  test('a file at an address also needs remote_images', async () => {
    const { chat, upstream } = await watchedGateway(config)
    const file = { file_data: 'https://files.test/a.pdf' }
    const error = await expectErrorShape(await chat(withParts('gemini', { type: 'file', file })))
    expect(error).toMatchObject({ code: 'LM-1001', param: 'messages.1.content.1.file' })
    expect(upstream.requests).toEqual([])
  })
})

describe('images in estimates', () => {
  // Three tokens for the reply; three and the text for each message.
  const text = 3 + (3 + 3) + (3 + 2)

  test.each([
    ['85 tokens at detail low', [{ url: png, detail: 'low' }], 85],
    ['765 at detail high', [{ url: png, detail: 'high' }], 765],
    ['765 at detail auto', [{ url: png, detail: 'auto' }], 765],
    ['765 without detail', [{ url: png }], 765],
    ['765 at null detail', [{ url: png, detail: null }], 765],
    ['765 as a bare string', [remote], 765],
    ['one count per image', [{ url: png, detail: 'low' }, { url: remote }], 850],
    ['for any size', [{ url: `data:image/png;base64,${'A'.repeat(100_000)}` }], 765],
  ])('%s', async (_, images, tokens) => {
    const { chat, upstream, log } = await watchedGateway(config)
    upstream.next(json(completion('Hello', {})))
    await chat(withParts('seer', ...images.map(image)))
    expect(settlement(log)).toMatchObject({
      tokens_in: text + tokens,
      tokens_out: 2,
      estimated: true,
    })
  })

  test('usage that the upstream reports replaces the estimate', async () => {
    const { chat, upstream, log } = await watchedGateway(config)
    upstream.next(json(completion()))
    await chat(withParts('seer', image({ url: png })))
    expect(settlement(log)).toMatchObject({ tokens_in: 9, estimated: false })
  })
})
