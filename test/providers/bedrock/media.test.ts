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
    ['a type that is not a document', file('a.zip', 'data:application/zip;base64,AAAA'), ''],
    ['plain base64', file('a.pdf', 'AAAA'), '.file.file_data'],
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
