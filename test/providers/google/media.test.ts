import { describe, expect, test } from 'vitest'
import {
  asking,
  filesApiUrl,
  imagePart,
  refused,
  sent,
  sentPart,
  signedBy,
  userSays,
} from './support.ts'

describe('parts of a request', () => {
  test.each([
    ['data:image/jpg;base64,/9j/', 'image/jpeg', '/9j/'],
    ['data:;base64,/9j/', 'image/jpeg', '/9j/'],
    ['data:image/PNG;charset=utf-8;base64,iVBO', 'image/png', 'iVBO'],
    ['data:image/webp;base64,UklG\r\n Rg==', 'image/webp', 'UklGRg=='],
  ])('%j becomes an inline image of type %s', async (url, mimeType, data) => {
    expect(await sentPart(imagePart(url))).toEqual({ inlineData: { mimeType, data } })
  })

  test('image_url may be a bare string', async () => {
    const part = { type: 'image_url', image_url: 'data:image/png;base64,iVBO' }
    expect(await sentPart(part)).toEqual({ inlineData: { mimeType: 'image/png', data: 'iVBO' } })
  })

  test.each([
    ['gs://b/dir/cat.PNG', { fileUri: 'gs://b/dir/cat.PNG', mimeType: 'image/png' }],
    ['gs://b/clip.mov?x=1', { fileUri: 'gs://b/clip.mov?x=1', mimeType: 'video/mov' }],
    ['gs://b/blob', { fileUri: 'gs://b/blob' }],
    ['gs://b/v1.2/blob', { fileUri: 'gs://b/v1.2/blob' }],
    [filesApiUrl, { fileUri: filesApiUrl }],
    ['files/abc-123', { fileUri: filesApiUrl }],
  ])('%s is sent as a reference to a file at Google', async (url, fileData) => {
    expect(await sentPart(imagePart(url))).toEqual({ fileData })
  })

  test.each(['format', 'mime_type'])('%s states the media type of a file', async (field) => {
    expect(await sentPart(imagePart('gs://b/cat.png', { [field]: 'image/heic' }))).toEqual({
      fileData: { fileUri: 'gs://b/cat.png', mimeType: 'image/heic' },
    })
  })

  test('a file with data is sent inline', async () => {
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }
    expect(await sentPart({ type: 'file', file })).toEqual({
      inlineData: { mimeType: 'application/pdf', data: 'JVBE' },
    })
  })

  test.each<[object, object]>([
    [{ file_id: 'gs://b/a.pdf' }, { fileUri: 'gs://b/a.pdf', mimeType: 'application/pdf' }],
    [
      { file_data: 'gs://b/a', format: 'text/plain' },
      { fileUri: 'gs://b/a', mimeType: 'text/plain' },
    ],
    [{ file_id: 'files/abc-123' }, { fileUri: filesApiUrl }],
    [{ file_id: filesApiUrl }, { fileUri: filesApiUrl }],
  ])('a file %j is sent as a reference to a file at Google', async (file, fileData) => {
    expect(await sentPart({ type: 'file', file })).toEqual({ fileData })
  })

  test('input audio is sent with the media type of its format', async () => {
    const part = { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } }
    expect(await sentPart(part)).toEqual({ inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } })
  })

  test.each([
    ['percent-encoded data', imagePart('data:image/svg+xml,%3Csvg%3E'), '.image_url'],
    ['a relative address', imagePart('cat.png'), '.image_url'],
    ['a file_id of OpenAI', { type: 'file', file: { file_id: 'file-1' } }, ''],
    ['a file without a type', { type: 'file', file: { file_data: 'data:;base64,AA' } }, '.file'],
    ['an unknown part', { type: 'hologram' }, ''],
  ])('%s is refused with the path of its field', async (_, part, field) => {
    const request = userSays({ type: 'text', text: 'x' }, part)
    expect(await refused(request)).toMatchObject({
      code: 'LM-1001',
      param: `messages.0.content.1${field}`,
    })
  })

  test('an http(s) address is refused with LM-2004', async () => {
    const request = userSays(imagePart('https://example.com/cat.png'))
    expect((await refused(request))['code']).toBe('LM-2004')
  })

  test('a file reference of another vendor is refused with LM-2008', async () => {
    const request = userSays(imagePart('anthropic-file:file_1'))
    expect((await refused(request))['code']).toBe('LM-2008')
  })
})
describe('generated media in the history', () => {
  async function past(message: object, upstreamId?: string) {
    const messages = [
      { role: 'user', content: 'Draw' },
      { role: 'assistant', content: 'Here.', ...message },
      { role: 'user', content: 'Red, please' },
    ]
    return (await sent(asking({ messages }), { upstreamId })).contents[1]?.parts
  }

  test('generated images and audio return to the model with their signatures', async () => {
    const images = [{ ...imagePart('data:image/png;base64,iVBO'), ...signedBy('aW1n') }]
    const audio = { id: 'audio_1', data: 'AAE=', mime_type: 'audio/L16' }
    expect(await past({ images, audio, ...signedBy('dGV4dA==') })).toEqual([
      { text: 'Here.', thoughtSignature: 'dGV4dA==' },
      { inlineData: { mimeType: 'audio/L16', data: 'AAE=' } },
      { inlineData: { mimeType: 'image/png', data: 'iVBO' }, thoughtSignature: 'aW1n' },
    ])
  })

  test.each([
    ['images.0.image_url', { images: [imagePart('https://example.com/cat.png')] }],
    ['audio', { audio: { id: 'audio_1' } }],
  ])('%s without inline data is refused', async (field, message) => {
    const messages = [{ role: 'assistant', content: 'Here.', ...message }]
    expect((await refused(asking({ messages })))['param']).toBe(`messages.0.${field}`)
  })
})
