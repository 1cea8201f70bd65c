import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message, refused, sent, strict } from './support.ts'

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more })
const text = (value: string) => ({ type: 'text', text: value })

/** Returns the messages of the upstream request for this conversation. */
async function turns(...messages: object[]): Promise<unknown> {
  return (await sent({ messages }))['messages']
}

describe('media', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const block = async (part: object) =>
    // One message with one part becomes one message with one block.
    ((await turns(user([part]))) as [{ content: [unknown] }])[0].content[0]

  test.each([
    ['data:image/png;base64,AAAA', 'image/png', 'AAAA'],
    ['DATA:IMAGE/JPG;charset=x;BASE64,AA AA\n', 'image/jpeg', 'AAAA'],
    ['data:image/webp;base64,AAAA', 'image/webp', 'AAAA'],
    ['data:image/gif;base64,AAAA', 'image/gif', 'AAAA'],
  ])('the image %j becomes a block with its source', async (url, mediaType, data) => {
    expect(await block(image(url))).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: mediaType, data },
    })
  })

  test('a PDF sent as an image becomes a document', async () => {
    expect(await block(image('data:application/pdf;base64,JVBE'))).toEqual({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
    })
  })

  test('image_url may be a string', async () => {
    expect(await block({ type: 'image_url', image_url: 'HTTP://example.com/a.png' })).toEqual({
      type: 'image',
      source: { type: 'url', url: 'HTTP://example.com/a.png' },
    })
  })

  test.each([
    'data:image/tiff;base64,AAAA',
    'data:image/png,AAAA',
    'data:image/png;base64,',
    'data:,',
    'ftp://example.com/a.png',
    'a.png',
    '',
  ])('the image %j is refused with LM-1001', async (url) => {
    expect(await refused({ messages: [user([text('a'), image(url)])] })).toMatchObject({
      code: 'LM-1001',
      param: 'messages.0.content.1.image_url',
    })
  })

  test('a text file becomes a document with the decoded text', async () => {
    const data = Buffer.from('Grüße').toString('base64')
    const file = { file_data: `data:text/plain;base64,${data}`, filename: 'a.txt' }
    expect(await block({ type: 'file', file })).toEqual({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
      title: 'a.txt',
    })
  })

  test('a stored file becomes a document by its id, with the files-api beta feature', async () => {
    const { chat, upstream } = await anthropicGateway()
    upstream.always(json(message([])))
    await chat(asking({ messages: [user([{ type: 'file', file: { file_id: 'file_1' } }])] }))
    await chat(asking())
    const source = { type: 'file', file_id: 'file_1' }
    expect(upstream.body(0)).toMatchObject({
      messages: [user([{ type: 'document', source }])],
    })
    expect(upstream.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
      'files-api-2025-04-14',
      undefined,
    ])
  })

  test.each(['file_data', 'file_id'])(
    'a document at the address in %s is fetched by the vendor, without a beta feature',
    async (member) => {
      const { chat, upstream } = await anthropicGateway(strict)
      upstream.always(json(message([])))
      const url = 'https://example.com/report.pdf'
      const file = { [member]: url, filename: 'report.pdf' }
      await chat(asking({ messages: [user([{ type: 'file', file }])] }))
      const document = { type: 'document', source: { type: 'url', url }, title: 'report.pdf' }
      expect(upstream.body(0)).toMatchObject({ messages: [user([document])] })
      expect(upstream.requests[0]?.headers).not.toHaveProperty('anthropic-beta')
    },
  )

  test.each([
    [{ file_data: 'JVBE' }, 'file_data'],
    [{ file_data: 'data:text/plain;base64,*' }, 'file_data'],
    [{}, undefined],
  ])('the file %j is refused with LM-1001', async (file, field) => {
    const param = ['messages.0.content.0.file', field].filter(Boolean).join('.')
    expect(await refused({ messages: [user([{ type: 'file', file }])] })).toMatchObject({
      code: 'LM-1001',
      param,
    })
  })

  test.each([
    [{ type: 'file', file: { file_data: 'data:text/csv;base64,AAAA' } }],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    [{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }],
    [{ image_url: { url: 'data:image/png;base64,AAAA' } }],
    [{}],
  ])(
    'a part %j has no counterpart and is refused, because content is never left out',
    async (part) => {
      const messages = [user([text('a'), part])]
      const expected = { code: 'LM-1001', param: 'messages.0.content.1' }
      expect(await refused({ messages })).toMatchObject(expected)
      expect(await refused({ messages }, strict)).toMatchObject(expected)
    },
  )

  test.each([
    ['assistant', 1],
    ['system', 0],
  ])('an image in a %s message has no counterpart and is refused', async (role, index) => {
    const shown = { role, content: [text('Look:'), image('https://example.com/a.png')] }
    const messages = index === 0 ? [shown, user('Hi')] : [user('Hi'), shown, user('Go')]
    expect(await refused({ messages })).toMatchObject({
      code: 'LM-1001',
      param: `messages.${index}.content.1`,
    })
  })

  test('a reference to Google’s file store is refused with LM-2008', async () => {
    const error = await refused({ messages: [user([image('gs://bucket/a.png')])] })
    expect(error).toMatchObject({ code: 'LM-2008' })
  })
})
