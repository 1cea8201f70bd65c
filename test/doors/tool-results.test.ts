import { describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const provider = (kind: string, upstreamId: string, more = '') => `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${more}
models = [{ id = "m", upstream_id = "${upstreamId}", modalities = ["text", "image"] }]
`
const region = 'base_url = "us-east-1"'
const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const targets = {
  anthropic: provider('anthropic', 'claude-sonnet-4-5'),
  'Claude on Bedrock': provider('bedrock', claude, region),
  'Nova on Bedrock': provider('bedrock', 'amazon.nova-pro-v1:0', region),
  'Llama on Bedrock': provider('bedrock', 'meta.llama4-scout-17b-instruct-v1:0', region),
  'Gemini 3': provider('google', 'gemini-3-flash-preview'),
  'Gemini 2.5': provider('google', 'gemini-2.5-flash'),
  cohere: provider('cohere', 'command-a-vision-07-2025'),
  openai: provider('openai', 'gpt-5.2', 'base_url = "https://vendor.test/v1"'),
} as const

type Target = keyof typeof targets

const png = 'aGk='
const pdf = 'JVBERi0='
const pngUri = `data:image/png;base64,${png}`
const pdfUri = `data:application/pdf;base64,${pdf}`

/** Files of one result of a tool, and whether its call failed, as each door writes them. */
interface Result {
  readonly files: readonly ('png' | 'pdf')[]
  readonly isError?: boolean
}

const doors = {
  messages: {
    path: '/v1/messages',
    write: ({ files, isError }: Result) => ({
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [
                { type: 'text', text: 'Seen.' },
                ...files.map((file) =>
                  file === 'png'
                    ? { type: 'image', source: source('image/png', png) }
                    : { type: 'document', title: 'a.pdf', source: source('application/pdf', pdf) },
                ),
              ],
              ...(isError && { is_error: true }),
            },
          ],
        },
      ],
    }),
  },
  responses: {
    path: '/v1/responses',
    write: ({ files }: Result) => ({
      max_output_tokens: 64,
      input: [
        { role: 'user', content: 'Go' },
        { type: 'function_call', call_id: 't1', name: 'f', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 't1',
          output: [
            { type: 'input_text', text: 'Seen.' },
            ...files.map((file) =>
              file === 'png'
                ? { type: 'input_image', image_url: pngUri }
                : { type: 'input_file', filename: 'a.pdf', file_data: pdfUri },
            ),
          ],
        },
      ],
    }),
  },
  chat: {
    path: '/v1/chat/completions',
    write: ({ files, isError }: Result) => ({
      max_completion_tokens: 64,
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 't1',
          content: [
            { type: 'text', text: 'Seen.' },
            ...files.map((file) =>
              file === 'png'
                ? { type: 'image_url', image_url: { url: pngUri } }
                : { type: 'file', file: { filename: 'a.pdf', file_data: pdfUri } },
            ),
          ],
          ...(isError && { is_error: true }),
        },
      ],
    }),
  },
} as const

type DoorName = keyof typeof doors

function source(mediaType: string, data: string): object {
  return { type: 'base64', media_type: mediaType, data }
}

/** What the upstream gets for a result, without the fields that differ by door. */
async function send(target: Target, door: DoorName, result: Result): Promise<unknown> {
  const gateway = await ask(targets[target], doors[door].path, doors[door].write(result))
  expect(gateway.upstream.requests).toHaveLength(1)
  const { messages, contents } = gateway.upstream.body() as Record<string, unknown>
  return messages ?? contents
}

/** Sends a request whose answer does not matter. */
async function ask(config: string, path: string, body: object): Promise<TestGateway> {
  const gateway = await testGateway(config)
  gateway.upstream.next(json({ message: 'no' }, { status: 400 }))
  const init = { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) }
  await (await gateway.get(path, init)).text()
  return gateway
}

const both = { files: ['png', 'pdf'] } as const

describe('files in the result of a tool', () => {
  test.each<[Target, DoorName]>([
    ['anthropic', 'responses'],
    ['Claude on Bedrock', 'messages'],
    ['Claude on Bedrock', 'responses'],
    ['Nova on Bedrock', 'messages'],
    ['Nova on Bedrock', 'responses'],
    ['Gemini 3', 'messages'],
    ['Gemini 3', 'responses'],
  ])('reach %s in the result, through %s as through chat', async (target, door) => {
    const sent = JSON.stringify(await send(target, door, both))
    expect(sent).not.toContain('next user message')
    expect(sent).toContain(png)
    expect(sent).toContain(pdf)
    expect(JSON.parse(sent)).toEqual(await send(target, 'chat', both))
  })

  test.each<[Target, DoorName, number]>([
    ['openai', 'messages', 3],
    ['openai', 'responses', 3],
    ['Llama on Bedrock', 'messages', 2],
    ['Gemini 2.5', 'responses', 3],
    ['cohere', 'messages', 3],
  ])('go to %s in the user message behind it, through %s', async (target, door, at) => {
    const result = { files: ['png'] } as const
    const sent = (await send(target, door, result)) as object[]
    expect(sent).toHaveLength(at + 1)
    expect(JSON.stringify(sent)).toContain('The files of this result are in the next user message.')
    const user = JSON.stringify(sent[at])
    expect(user).toContain('The files of the tool result t1:')
    expect(user).toContain(png)
  })

  test('several texts beside a file are one text for Gemini', async () => {
    const blocks = ['One', 'Two'].map((text) => ({ type: 'text', text }))
    const image = { type: 'image', source: source('image/png', png) }
    const body = doors.messages.write({ files: [] })
    const content = [{ type: 'tool_result', tool_use_id: 't1', content: [...blocks, image] }]
    const messages = [...body.messages.slice(0, 2), { role: 'user', content }]
    const { upstream } = await ask(targets['Gemini 3'], '/v1/messages', { ...body, messages })
    expect(upstream.body()).toMatchObject({
      contents: [
        {},
        {},
        { parts: [{ functionResponse: { response: { output: 'One\n\nTwo' }, parts: [{}] } }] },
      ],
    })
  })
})

describe('a tool call that failed', () => {
  test.each<Target>(['Claude on Bedrock', 'Nova on Bedrock', 'Gemini 3', 'Gemini 2.5'])(
    'is one for %s, through Messages as through chat',
    async (target) => {
      const failed = { files: [], isError: true }
      const sent = await send(target, 'messages', failed)
      expect(JSON.stringify(sent)).not.toContain('The tool call failed.')
      expect(sent).toEqual(await send(target, 'chat', failed))
    },
  )

  test.each<[Target, number]>([
    ['openai', 2],
    ['cohere', 2],
    ['Llama on Bedrock', 2],
  ])('is said in the text for %s', async (target, at) => {
    const sent = (await send(target, 'messages', { files: [], isError: true })) as object[]
    expect(JSON.stringify(sent[at])).toContain('The tool call failed.\\n\\nSeen.')
    expect(JSON.stringify(sent)).not.toContain('is_error')
  })
})

describe('a file by its address', () => {
  const url = 'https://files.test/a.pdf'
  const input = [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }]
  const document = { type: 'document', source: { type: 'url', url } }
  const messages = [{ role: 'user', content: [document] }]

  test('reaches Claude, Gemini and OpenRouter from the Responses API', async () => {
    const { upstream } = await ask(targets.anthropic, '/v1/responses', { input })
    expect(upstream.body()).toMatchObject({
      messages: [{ content: [{ type: 'document', source: { type: 'url', url } }] }],
    })
    const google = provider('google', 'gemini-2.5-flash', 'remote_images = true')
    const gemini = await ask(google, '/v1/responses', { input })
    const fileData = { mimeType: 'application/pdf', fileUri: url }
    expect(gemini.upstream.body()).toMatchObject({ contents: [{ parts: [{ fileData }] }] })
    const router = await ask(provider('openrouter', 'x/y'), '/v1/responses', { input })
    const file = { type: 'file', file: { file_data: url } }
    expect(router.upstream.body()).toMatchObject({ messages: [{ content: [file] }] })
  })

  test.each<[Target, string, object, string]>([
    ['openai', '/v1/responses', { input }, 'input.0.content.0.file_url'],
    ['openai', '/v1/messages', { messages, max_tokens: 9 }, 'messages.0.content.0.source'],
    ['Gemini 2.5', '/v1/responses', { input }, 'input.0.content.0'],
    ['Claude on Bedrock', '/v1/responses', { input }, 'input.0.content.0'],
    ['cohere', '/v1/responses', { input }, 'input.0.content.0'],
  ])('cannot be expressed for %s by %s', async (target, path, body, param) => {
    const gateway = await testGateway(targets[target])
    const init = { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) }
    const response = await gateway.get(path, init)
    const { error } = (await response.json()) as { error: { code: string } }
    expect(response.status).toBe(400)
    expect(JSON.stringify(error)).toContain('LM-1001')
    expect(error).toMatchObject({ param, message: expect.stringContaining('address') })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('has its own name where a vendor takes another scheme only', async () => {
    const plain = [{ role: 'user', content: [{ type: 'input_file', file_url: 'http://a.test/a' }] }]
    const gateway = await testGateway(targets.anthropic)
    const init = { method: 'POST', body: JSON.stringify({ model: 'm', input: plain }) }
    const response = await gateway.get('/v1/responses', init)
    expect(await response.json()).toMatchObject({ error: { param: 'input.0.content.0.file_url' } })
  })
})
