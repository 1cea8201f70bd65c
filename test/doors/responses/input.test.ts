import { describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { chatOnly, responsesGateway } from './support.ts'

const seeing = `${chatOnly}modalities = ["text", "image"]\n`
const pixel = 'data:image/png;base64,AAAA'
const image = { type: 'input_image', image_url: pixel, detail: 'high' }
const chatImage = { type: 'image_url', image_url: { url: pixel, detail: 'high' } }

/** Returns the messages that the upstream gets for these items. */
async function translate(input: unknown, fields: object = {}) {
  const { upstream, ask } = await responsesGateway(seeing)
  upstream.next(json(completion('Hi')))
  await ask({ input, ...fields })
  const { messages } = upstream.body() as { messages: unknown[] }
  return messages
}

describe('input items on a translated link', () => {
  test('neighbouring reasoning, texts and calls of the model are one message', async () => {
    const call = (id: string) => ({
      type: 'function_call',
      call_id: id,
      name: 'f',
      arguments: '1e3',
    })
    const messages = await translate([
      { role: 'developer', content: 'Rules.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hidden' }] },
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'One', annotations: [] },
          { type: 'refusal', refusal: ' no' },
        ],
      },
      call('a'),
      call('b'),
      { type: 'function_call_output', call_id: 'a', output: 'x', status: 'completed' },
      { type: 'function_call_output', call_id: 'b', output: 'y' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAAAA' },
      call('c'),
      { type: 'function_call_output', call_id: 'c', output: 'z' },
      { role: 'system', content: 'More rules.' },
    ])
    const sent = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '1e3' },
    })
    expect(messages).toEqual([
      { role: 'system', content: 'Rules.' },
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'One no', tool_calls: [sent('a'), sent('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'tool', tool_call_id: 'b', content: 'y' },
      { role: 'assistant', content: null, tool_calls: [sent('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'z' },
      // The templates of many models take instructions in the first place only.
      { role: 'user', content: 'More rules.' },
    ])
  })

  test('images and files are parts of the message', async () => {
    const file = {
      type: 'input_file',
      file_data: 'data:application/pdf;base64,AA',
      filename: 'a.pdf',
    }
    const [message] = await translate([
      { role: 'user', content: [{ type: 'input_text', text: 'See' }, image, file] },
    ])
    expect(message).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        chatImage,
        { type: 'file', file: { file_data: file.file_data, filename: 'a.pdf' } },
      ],
    })
  })

  test('images in outputs follow the last of neighbouring tool messages', async () => {
    const messages = await translate([
      { role: 'user', content: 'Go' },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '' },
      { type: 'function_call_output', call_id: 'a', output: [image] },
      { type: 'function_call_output', call_id: 'b', output: 'y' },
      { role: 'user', content: 'And?' },
    ])
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('next user message') },
      { role: 'tool', tool_call_id: 'b', content: 'y' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The files of the tool result a:' },
          chatImage,
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  test('arguments that are an object keep their text', async () => {
    const body =
      '{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":{"n":12345678901234567890}},{"role":"user","content":"x"}]}'
    const { upstream, send } = await responsesGateway()
    upstream.next(json(completion('Hi')))
    await send(body)
    expect(upstream.text()).toContain('{\\"n\\":12345678901234567890}')
  })

  test('fields map to those of chat completions', async () => {
    const { upstream, ask } = await responsesGateway(
      `${chatOnly}max_output_tokens = 50\nreasoning = true\n`,
    )
    upstream.next(json(completion('Hi')))
    const schema = { type: 'object' }
    await ask({
      input: 'Hi',
      max_output_tokens: 64_000,
      temperature: 0.5,
      top_p: 0.9,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'a', schema, strict: true }, verbosity: 'low' },
      metadata: { a: 'b' },
      service_tier: 'flex',
      store: true,
    })
    expect(upstream.body()).toEqual({
      model: 'upstream-m',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } },
    })
  })

  test('the effort is sent only to models that take it', async () => {
    const { upstream, ask } = await responsesGateway()
    upstream.next(json(completion('Hi')))
    await ask({ input: 'Hi', reasoning: { effort: 'low' } })
    expect(upstream.body()).not.toHaveProperty('reasoning_effort')
  })

  test('a reference to reasoning is skipped', async () => {
    const items = [
      { type: 'item_reference', id: 'rs_1' },
      { role: 'user', content: 'x' },
    ]
    expect(await translate(items)).toEqual([{ role: 'user', content: 'x' }])
  })
})

describe('a request that no translated link can express', () => {
  const user = { role: 'user', content: 'x' }

  test.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'c' } }],
    ['prompt', { prompt: { id: 'p' } }],
    ['background', { background: true }],
    ['input', { input: [] }],
    ['input', { input: undefined }],
    ['input.1.id', { input: [user, { type: 'item_reference', id: 'msg_1' }] }],
    ['input.0.type', { input: [{ type: 'compaction', encrypted_content: 'x' }, user] }],
    ['input.0.role', { input: [{ role: 'critic', content: 'x' }] }],
    ['input.0.content', { input: [{ role: 'user' }] }],
    ['input.0.content.0.text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['input.0.content.0.type', { input: [{ role: 'user', content: [{ type: 'new' }] }] }],
    [
      'input.0.content.0.file_url',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.b' }] }] },
    ],
    ['input.1.call_id', { input: [user, { type: 'function_call_output', output: 'x' }] }],
    ['tools.0.name', { tools: [{ type: 'function' }] }],
    ['reasoning.effort', { reasoning: { effort: 5 } }],
    ['instructions', { instructions: 5 }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['stream', { stream: 'yes' }],
  ])('%s is LM-1001 before any call', async (param, body) => {
    const { upstream, send } = await responsesGateway(seeing)
    const response = await send({ input: 'Hi', ...body })
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param })
    expect(upstream.requests).toEqual([])
  })

  test('the error for a stored item names store', async () => {
    const { send } = await responsesGateway()
    const response = await send({ input: [{ type: 'item_reference', id: 'msg_1' }, user] })
    expect((await readError(response))['message']).toContain('set store to false')
  })

  test('a repeated bound is LM-1001', async () => {
    const { send } = await responsesGateway()
    const body = '{"model":"m","input":"x","max_output_tokens":1,"max_output_tokens":2}'
    const error = await readError(await send(body))
    expect(error).toMatchObject({ code: 'LM-1001', param: 'max_output_tokens' })
  })

  test('a field that a vendor cannot express has the name of this API', async () => {
    const config = chatOnly.replace('kind = "openai"', 'kind = "anthropic"')
    const { send } = await responsesGateway(`${config}modalities = ["text", "image"]\n`)
    const bad = { type: 'input_image', image_url: 'data:image/tiff;base64,AA' }
    const response = await send({ input: [user, { role: 'user', content: [bad] }] })
    expect(await readError(response)).toMatchObject({
      code: 'LM-1001',
      param: expect.stringMatching(/^input\.1\.content\.0/),
    })
  })

  test('an image for a model without the modality is LM-2003 with its path', async () => {
    const { send } = await responsesGateway()
    const output = { type: 'function_call_output', call_id: 'a', output: [image] }
    const response = await send({ input: [user, output] })
    expect(await readError(response)).toMatchObject({
      code: 'LM-2003',
      param: 'input.1.output.0.image_url',
    })
  })
})
