import { describe, expect, test } from 'vitest'
import { refuseMessages, sendMessages } from './support.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

describe('images and documents', () => {
  test.each([
    ['image/png', 'png'],
    ['IMAGE/JPG', 'jpeg'],
    ['image/jpeg;charset=x', 'jpeg'],
    ['image/gif', 'gif'],
  ])('an image of type %s becomes an image of format %s', async (type, format) => {
    const { messages } = await sendMessages([user([image(`data:${type};base64,AA AA\n`)])])
    expect(messages[0]?.content).toEqual([{ image: { format, source: { bytes: 'AAAA' } } }])
  })

  test.each(['data:image/tiff;base64,AAAA', 'data:image/png,AAAA', 'ftp://x/y.png'])(
    'the image %s is refused with LM-1001',
    async (url) => {
      expect(await refuseMessages([user([text('1'), image(url)])])).toEqual({
        code: 'LM-1001',
        param: 'messages.0.content.1.image_url',
      })
    },
  )

  const file = (filename: string | undefined, data = 'data:application/pdf;base64,AAAA') => ({
    type: 'file',
    file: { filename, file_data: data },
  })

  test('document names are in the alphabet of Converse and unique', async () => {
    const names = [
      'Ünïcode\u3000report\t(v1.2)_final.pdf',
      'a.pdf',
      'a.csv',
      'a',
      '.pdf',
      undefined,
      `${'long '.repeat(60)}.pdf`,
      '[x]-(y) z.pdf',
    ]
    const { messages } = await sendMessages([user([text('1'), ...names.map((name) => file(name))])])
    const documents = messages[0]?.content.slice(1).map(({ document }) => document?.name ?? '')
    expect(documents?.slice(0, 6)).toEqual([
      'n code report (v1 2) final',
      'a',
      'a (2)',
      'a (3)',
      'document-5',
      'document-6',
    ])
    expect(documents?.[7]).toBe('[x]-(y) z')
    for (const name of documents ?? []) expect(name).toMatch(/^[\w()[\]-]+(?: [\w()[\]-]+)*$/)
    expect(documents?.[6]?.length).toBeLessThanOrEqual(200)
  })

  test.each([
    ['application/pdf', 'x', 'pdf'],
    ['text/csv', 'x', 'csv'],
    ['text/markdown', 'x', 'md'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'x', 'docx'],
    ['application/vnd.ms-excel', 'x', 'xls'],
    ['application/octet-stream', 'notes.MD', 'md'],
  ])('a file of type %s becomes a document', async (type, name, format) => {
    const { messages } = await sendMessages([
      user([text('1'), file(name, `data:${type};base64,AAAA`)]),
    ])
    expect(messages[0]?.content[1]).toMatchObject({ document: { format } })
  })

  test('a document without a text gets the text .', async () => {
    const { messages } = await sendMessages([
      user([image('data:application/pdf;base64,AAAA')]),
      assistant('Ok.'),
      user([file('a.pdf'), text('Why?')]),
    ])
    expect(messages[0]?.content).toEqual([
      { document: { format: 'pdf', name: 'document-1', source: { bytes: 'AAAA' } } },
      { text: '.' },
    ])
    expect(messages[2]?.content).toHaveLength(2)
  })

  test.each([
    ['video/mp4', 'mp4'],
    ['VIDEO/QuickTime', 'mov'],
    ['video/3gpp', 'three_gp'],
  ])('a video of type %s becomes a video of format %s', async (type, format) => {
    const url = `data:${type};base64,AAAA`
    const parts = [file('clip', url), { type: 'video_url', video_url: { url } }]
    const { messages } = await sendMessages([user(parts)])
    const video = { video: { format, source: { bytes: 'AAAA' } } }
    expect(messages[0]?.content).toEqual([video, video])
  })

  test.each<[object, object]>([
    [
      { type: 'file', file: { file_data: 's3://bucket/a/report.PDF' } },
      { document: { format: 'pdf', name: 'report' } },
    ],
    [
      { type: 'file', file: { file_id: 's3://bucket/a', filename: 'b c.docx' } },
      { document: { format: 'docx', name: 'b c' } },
    ],
    [{ type: 'file', file: { file_id: 's3://bucket/a.jpg' } }, { image: { format: 'jpeg' } }],
    [{ type: 'file', file: { file_id: 's3://bucket/a.3gp' } }, { video: { format: 'three_gp' } }],
    [{ type: 'video_url', video_url: { url: 's3://bucket/a.mp4' } }, { video: { format: 'mp4' } }],
  ])('%j is read from S3', async (part, expected) => {
    const { messages } = await sendMessages([user([text('1'), part])])
    const uri = expect.stringMatching(/^s3:\/\/bucket\/a/)
    const [[type, members] = []] = Object.entries(expected)
    expect(messages[0]?.content[1]).toEqual({
      [type ?? '']: { ...members, source: { s3Location: { uri } } },
    })
  })

  test.each([
    ['a type that is not a document', file('a.zip', 'data:application/zip;base64,AAAA'), ''],
    ['plain base64', file('a.pdf', 'AAAA'), '.file.file_data'],
    ['an unknown format in S3', file('a', 's3://bucket/a.zip'), '.file'],
    ['a video that is not base64', { type: 'video_url', video_url: { url: 'x' } }, '.video_url'],
    ['a video of an unknown format', file('a', 'data:video/x;base64,AAAA'), '.file.file_data'],
  ])('a file of %s is refused with LM-1001', async (_, part, field) => {
    expect(await refuseMessages([user([part])])).toEqual({
      code: 'LM-1001',
      param: `messages.0.content.0${field}`,
    })
  })

  test.each([
    ['a stored file', { type: 'file', file: { file_id: 'file-1' } }],
    ['audio', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['a part of unknown type', { type: 'hologram' }],
  ])('%s is refused, because content is never left out', async (_, part) => {
    for (const strict of [false, true]) {
      expect(await refuseMessages([user([text('1'), part])], strict)).toEqual({
        code: 'LM-1001',
        param: 'messages.0.content.1',
      })
    }
  })

  test('an image in an assistant message is refused', async () => {
    const part = image('data:image/png;base64,AAAA')
    const messages = [user('1'), assistant([text('2'), part]), user('3')]
    expect(await refuseMessages(messages)).toMatchObject({ param: 'messages.1.content.1' })
  })
})
