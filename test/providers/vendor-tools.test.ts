import { describe, expect, test } from 'vitest'
import { assemble, readStream } from '../support/chunks.ts'
import { readError, testGateway } from '../support/gateway.ts'
import { json, stream, whole } from '../support/scripted-upstream.ts'
import { anthropicGateway, asking, message } from './anthropic/support.ts'
import { bedrockGateway, sonnet } from './bedrock/support.ts'
import { answered as geminiAnswer, googleGateway } from './google/support.ts'
import { vertexGateway } from './vertex/support.ts'

const f = { type: 'function', function: { name: 'f' } }
const question = [{ role: 'user', content: 'Hi' }]

/** The tools that Claude gets, and the choice among them. */
async function sendClaude(fields: object, upstreamId?: string): Promise<unknown> {
  const { chat, upstream } = await anthropicGateway({ settings: 'strict = true', upstreamId })
  upstream.next(json(message([])))
  const response = await chat(asking(fields))
  expect(response.status, await response.clone().text()).toBe(200)
  return upstream.body()
}

async function sendGemini(fields: object, upstreamId: string): Promise<unknown> {
  const { chat, upstream } = await googleGateway({ upstreamId })
  upstream.next(json(geminiAnswer([{ text: 'ok' }], { finishReason: 'STOP' })))
  expect((await chat({ model: 'g', messages: question, ...fields })).status).toBe(200)
  return upstream.body()
}

async function sendBedrock(fields: object, upstreamId: string): Promise<unknown> {
  const { chat, upstream } = await bedrockGateway({ upstreamId })
  upstream.next(json({ output: { message: { content: [{ text: 'a' }] } } }))
  expect((await chat({ model: 'm', messages: question, ...fields })).status).toBe(200)
  return upstream.body()
}

describe('a tool of a vendor', () => {
  const fetching = { type: 'web_fetch_20260318', name: 'web_fetch', allowed_domains: ['a.b'] }
  const bash = { type: 'bash_20250124', name: 'bash' }
  const serial = { type: 'auto', disable_parallel_tool_use: true }

  test('goes to Claude as it is, behind the functions', async () => {
    expect(await sendClaude({ tools: [fetching, f] })).toMatchObject({
      tools: [{ name: 'f' }, fetching],
    })
    expect(
      await sendClaude({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] }),
    ).toMatchObject({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] })
  })

  test('can be forced by its name', async () => {
    const tool_choice = { type: 'function', function: { name: 'web_fetch' } }
    expect(await sendClaude({ tools: [fetching], tool_choice })).toMatchObject({
      tool_choice: { type: 'tool', name: 'web_fetch' },
    })
  })

  test('is the only one on offer, where a named tool cannot be forced', async () => {
    const { chat, upstream } = await anthropicGateway({ upstreamId: 'claude-sonnet-5-5' })
    upstream.next(json(message([])))
    const tool_choice = { type: 'function', function: { name: 'web_fetch' } }
    await chat(asking({ tools: [f, fetching], tool_choice }))
    expect(upstream.body()).toMatchObject({ tools: [fetching], tool_choice: { type: 'auto' } })
  })

  test('goes to Gemini as it is, and says so beside functions', async () => {
    const tools = [{ google_search: {} }, { url_context: {} }]
    expect(await sendGemini({ tools }, 'gemini-2.5-flash')).toMatchObject({ tools })
    const both = await sendGemini({ tools: [f, ...tools] }, 'gemini-3-flash-preview')
    expect(both).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f' }] }, ...tools],
      toolConfig: { includeServerSideToolInvocations: true },
    })
  })

  test('says nothing of its calls beside functions on Vertex AI, which refuses the field', async () => {
    const own = [{ google_search: {} }, { url_context: {} }, { code_execution: {} }]
    for (const tool_choice of ['auto', 'required']) {
      for (const tools of own.map((tool) => [f, tool])) {
        const { chat, upstream } = await vertexGateway({ upstreamId: 'gemini-3-flash-preview' })
        upstream.next(json(geminiAnswer([{ text: 'ok' }], { finishReason: 'STOP' })))
        expect((await chat({ model: 'g', messages: question, tools, tool_choice })).status).toBe(
          200,
        )
        expect(upstream.body()).toHaveProperty('tools', [
          { functionDeclarations: [{ name: 'f' }] },
          tools[1],
        ])
        expect(upstream.text()).not.toContain('includeServerSideToolInvocations')
      }
    }
  })

  test('goes to Bedrock as it is', async () => {
    const tool = { systemTool: { name: 'nova_code_interpreter' } }
    expect(await sendBedrock({ tools: [f, tool] }, 'us.amazon.nova-2-lite-v1:0')).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'f' } }, tool] },
    })
  })

  test('for the client goes to Claude on Bedrock, beside the functions', async () => {
    const tool_choice = { type: 'function', function: { name: 'bash' } }
    const fields = { tools: [bash, f], tool_choice, anthropic_beta: ['computer-use-2025-01-24'] }
    expect(await sendBedrock(fields, sonnet)).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'f' } }] },
      additionalModelRequestFields: {
        tools: [bash],
        tool_choice: { type: 'tool', name: 'bash' },
        anthropic_beta: ['computer-use-2025-01-24'],
      },
    })
  })

  // Converse requires `toolConfig` beside calls, and AWS refuses a second tool with the name of Claude's own.
  test('for the client is the only one on Bedrock, before and after its first call', async () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{}' } }]
    const messages = [
      ...question,
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
    ]
    for (const fields of [{}, { messages }]) {
      const body = await sendBedrock({ tools: [bash], ...fields }, sonnet)
      expect(body).toHaveProperty('additionalModelRequestFields', { tools: [bash] })
      expect(body).toMatchObject({ toolConfig: { tools: [{ toolSpec: { name: 'no_tool' } }] } })
    }
  })

  test.each([
    ['Claude', 'anthropic', { tool_choice: serial }],
    ['Claude on Bedrock', 'bedrock', { additionalModelRequestFields: { tool_choice: serial } }],
  ])('for the client counts as one to call in parallel: %s', async (_, kind, expected) => {
    const fields = { tools: [bash], parallel_tool_calls: false }
    const sent = kind === 'anthropic' ? sendClaude(fields) : sendBedrock(fields, sonnet)
    expect(await sent).toMatchObject(expected)
  })

  test('that runs at Anthropic does not go to Claude on Bedrock', async () => {
    const { chat, upstream } = await bedrockGateway({ strict: true })
    const response = await chat({ model: 'm', messages: question, tools: [bash, fetching] })
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: 'tools.1' })
    expect(upstream.requests).toEqual([])
  })

  test('is refused by a strict provider of another vendor', async () => {
    const { chat } = await anthropicGateway({ settings: 'strict = true' })
    const response = await chat(asking({ tools: [f, { google_search: {} }] }))
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: 'tools.1' })
  })
})

describe('web_search_options', () => {
  const approximate = { city: 'Oslo', country: 'NO' }
  const web_search_options = {
    search_context_size: 'medium',
    user_location: { type: 'approximate', approximate },
  }

  test("becomes Claude's search", async () => {
    expect(await sendClaude({ web_search_options })).toMatchObject({
      tools: [
        {
          type: 'web_search_20250305',
          name: 'web_search',
          user_location: { type: 'approximate', ...approximate },
        },
      ],
    })
  })

  test('adds no second search', async () => {
    const search = { type: 'web_search_20260318', name: 'web_search' }
    const body = await sendClaude({ tools: [search], web_search_options: {} })
    expect(body).toHaveProperty('tools', [search])
    const tools = [{ google_search: {} }]
    const gemini = await sendGemini({ tools, web_search_options: {} }, 'gemini-2.5-flash')
    expect(gemini).toHaveProperty('tools', tools)
  })

  test("becomes Google's search, and Nova's", async () => {
    const gemini = await sendGemini({ web_search_options: {} }, 'gemini-2.5-flash')
    expect(gemini).toMatchObject({ tools: [{ googleSearch: {} }] })
    const nova = await sendBedrock({ web_search_options: {} }, 'us.amazon.nova-2-lite-v1:0')
    expect(nova).toMatchObject({
      toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] },
    })
  })

  test('of another type is LM-1001', async () => {
    const { chat } = await anthropicGateway()
    const response = await chat(asking({ web_search_options: { user_location: 'Oslo' } }))
    expect(await readError(response)).toMatchObject({
      code: 'LM-1001',
      param: 'web_search_options.user_location',
    })
  })
})

test('the searches of Claude are counted and charged', async () => {
  const config = `
[[providers]]
name = "p"
kind = "anthropic"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "claude-sonnet-4-5"
cost_per_1k_web_searches = 10
`
  const { chat, upstream } = await testGateway(config, { env: { P_KEY: 'k' } })
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
  }
  upstream.next(json(message([{ type: 'text', text: 'ok' }], { usage })))
  const response = await chat(asking())
  expect(response.headers.get('x-gateway-cost')).toBe('0.03')
  expect(await response.json()).toMatchObject({
    usage: { server_tool_use: { web_search_requests: 3 } },
  })
})

test('the sources of a grounded answer of Gemini count characters', async () => {
  const { chat, upstream } = await googleGateway()
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: 'https://a.b', title: 'a' } },
      { web: { uri: 'https://c.d', title: 'c' } },
      { maps: { uri: 'https://e.f', title: 'e', placeId: 'p' } },
    ],
    groundingSupports: [
      {
        segment: { partIndex: 2, startIndex: 7, endIndex: 10, text: 'Ja.' },
        groundingChunkIndices: [0, 1, 0],
      },
      { segment: { endIndex: 99, text: 'Ja.' }, groundingChunkIndices: [0] },
    ],
  }
  const parts = [{ text: 'Hm', thought: true }, { text: 'Ja. ' }, { text: 'Ü🦆 Ja.' }]
  const candidate = { finishReason: 'STOP', groundingMetadata }
  upstream.next(whole(JSON.stringify(geminiAnswer(parts, candidate))))
  const answer = (await (await chat({ model: 'g', messages: question })).json()) as {
    choices: [{ message: { annotations: { url_citation: object }[] } }]
  }
  const cited = answer.choices[0].message.annotations.map(({ url_citation: each }) => each)
  expect(cited).toEqual([
    source(7, 10, { url: 'https://a.b', title: 'a', text: 'Ja.' }),
    source(7, 10, { url: 'https://c.d', title: 'c', text: 'Ja.' }),
    source(0, 3, { url: 'https://a.b', title: 'a', text: 'Ja.' }),
    source(0, 0, { url: 'https://e.f', title: 'e', source_id: 'p' }),
  ])
})

test.each(['citationSources', 'citations'])(
  'recited sources in %s and addresses that Gemini has read are annotations, each once',
  async (member) => {
    const candidate = {
      finishReason: 'STOP',
      citationMetadata: {
        [member]: [
          { startIndex: 3, endIndex: 7, uri: 'https://a.b', title: 'a' },
          { startIndex: 3, endIndex: 7, uri: 'https://a.b', title: 'a' },
          { startIndex: 90, endIndex: 99, uri: 'https://c.d' },
        ],
      },
      urlContextMetadata: {
        urlMetadata: [
          { retrievedUrl: 'https://a.b', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
          { retrievedUrl: 'https://e.f', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
          { retrievedUrl: 'https://g.h', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR' },
        ],
      },
    }
    const expected = [
      source(2, 3, { url: 'https://a.b', title: 'a', text: '🦆' }),
      source(0, 0, { url: 'https://c.d', title: '' }),
      source(0, 0, { url: 'https://e.f', title: '' }),
    ]
    const { chat, upstream } = await googleGateway()
    upstream.next(whole(JSON.stringify(geminiAnswer([{ text: 'Ü 🦆' }], candidate))))
    const answer = (await (await chat({ model: 'g', messages: question })).json()) as {
      choices: [{ message: { annotations: { url_citation: object }[] } }]
    }
    const list = answer.choices[0].message.annotations.map(({ url_citation: each }) => each)
    expect(list).toEqual(expected)
    upstream.next(
      stream([
        `data: ${JSON.stringify(geminiAnswer([{ text: 'Ü ' }], { urlContextMetadata: candidate.urlContextMetadata }))}\n\n`,
        `data: ${JSON.stringify(geminiAnswer([{ text: '🦆' }], candidate))}\n\n`,
      ]),
    )
    const text = await (await chat({ model: 'g', messages: question, stream: true })).text()
    for (const { url } of expected as { url: string }[]) {
      expect(text.split(JSON.stringify(url)).length - 1).toBe(1)
    }
    expect(text).toContain('"start_index":2,"end_index":3,"url":"https://a.b"')
  },
)

/** The sources of a streamed answer of Gemini whose events have these texts and this grounding. */
async function streamSources(
  events: readonly { readonly text: string; readonly groundingMetadata: object }[],
): Promise<unknown> {
  const { chat, upstream } = await googleGateway()
  const last = events.length - 1
  const sent = events.map(({ text, groundingMetadata }, at) => {
    const finished = at === last ? { finishReason: 'STOP' } : {}
    return `data: ${JSON.stringify(geminiAnswer([{ text }], { groundingMetadata, ...finished }))}\n\n`
  })
  upstream.next(stream(sent))
  const { chunks } = await readStream(await chat({ model: 'g', messages: question, stream: true }))
  const { annotations } = assemble(chunks)
  return annotations.map((each) => (each as { url_citation: unknown }).url_citation)
}

describe('sources that several events of Gemini name', () => {
  const web = (name: string) => ({ web: { uri: `https://${name}.b`, title: name } })
  const support = (startIndex: number, endIndex: number, text: string, ...indices: number[]) => ({
    segment: { startIndex, endIndex, text },
    groundingChunkIndices: indices,
  })
  const a = { url: 'https://a.b', title: 'a' }
  const b = { url: 'https://b.b', title: 'b' }
  const c = { url: 'https://c.b', title: 'c' }

  test('add up, each once', async () => {
    const first = { groundingChunks: [web('a'), web('b')] }
    const second = { groundingChunks: [web('a'), web('c')] }
    expect(
      await streamSources([
        { text: 'Ja. ', groundingMetadata: first },
        { text: 'No.', groundingMetadata: second },
      ]),
    ).toEqual([source(0, 0, a), source(0, 0, b), source(0, 0, c)])
  })

  test('keep the parts of the text that each event gives them', async () => {
    const first = {
      groundingChunks: [web('a'), web('b')],
      groundingSupports: [support(0, 3, 'Ja.', 0)],
    }
    const repeated = {
      groundingChunks: [web('c'), web('a'), web('b')],
      groundingSupports: [support(0, 3, 'Ja.', 1), support(4, 7, 'No.', 0, 2)],
    }
    expect(
      await streamSources([
        { text: 'Ja. ', groundingMetadata: first },
        { text: 'No.', groundingMetadata: repeated },
      ]),
    ).toEqual([
      source(0, 3, { ...a, text: 'Ja.' }),
      source(4, 7, { ...c, text: 'No.' }),
      source(4, 7, { ...b, text: 'No.' }),
    ])
  })

  test('are found where only an earlier event lists them', async () => {
    expect(
      await streamSources([
        { text: 'Ja. ', groundingMetadata: { groundingChunks: [web('a')] } },
        { text: 'No.', groundingMetadata: { groundingSupports: [support(4, 7, 'No.', 0)] } },
      ]),
    ).toEqual([source(4, 7, { ...a, text: 'No.' })])
  })
})

describe('a source without an address', () => {
  const annotated = async (chunk: object) => {
    const { chat, upstream } = await googleGateway()
    const groundingMetadata = { groundingChunks: [chunk] }
    upstream.next(
      json(geminiAnswer([{ text: 'Ja.' }], { finishReason: 'STOP', groundingMetadata })),
    )
    const answer = (await (await chat({ model: 'g', messages: question })).json()) as {
      choices: [{ message: { annotations?: { url_citation: object }[] } }]
    }
    return answer.choices[0].message.annotations?.map(({ url_citation: each }) => each)
  }
  const store = 'fileSearchStores/s1'

  test.each([
    ['its title', { retrievedContext: { text: 'x', title: 'a.pdf', fileSearchStore: store } }],
    ['its document', { retrievedContext: { text: 'x', documentName: 'a.pdf' } }],
  ])('of Gemini has %s as title', async (_, chunk) => {
    expect(await annotated(chunk)).toMatchObject([{ url: '', title: 'a.pdf' }])
  })

  test('of Gemini has the store of a file as title, and no annotation without one', async () => {
    expect(await annotated({ retrievedContext: { text: 'x', fileSearchStore: store } })).toEqual([
      source(0, 0, { url: '', title: store, source_id: store }),
    ])
    expect(await annotated({ retrievedContext: { text: 'x' } })).toBeUndefined()
    expect(await annotated({ web: {} })).toBeUndefined()
  })

  test('of Gemini’s image search is the page of the image', async () => {
    const image = { sourceUri: 'https://a.b', imageUri: 'https://a.b/c.png', domain: 'a.b' }
    expect(await annotated({ image })).toEqual([source(0, 0, { url: 'https://a.b', title: 'a.b' })])
  })

  test.each([
    ['its title', { document_title: 'a.pdf', document_index: 1 }, { title: 'a.pdf' }],
    ['its position', { document_title: null, document_index: 1 }, { title: 'document 2' }],
  ])('of Claude has %s as title', async (_, place, shown) => {
    const { chat, upstream } = await anthropicGateway()
    const citations = [{ type: 'page_location', cited_text: 'x', ...place }]
    upstream.next(json(message([{ type: 'text', text: 'Ja.', citations }])))
    expect(await (await chat(asking())).json()).toMatchObject({
      choices: [{ message: { annotations: [{ url_citation: { url: '', ...shown } }] } }],
    })
  })

  test.each([
    ['its title', { title: 'a.pdf', location: { documentPage: { documentIndex: 0 } } }, 'a.pdf'],
    ['its source', { source: 'a.pdf' }, 'a.pdf'],
    ['its position', { location: { documentChunk: { documentIndex: 0 } } }, 'document 1'],
  ])('on Bedrock has %s as title', async (_, citation, title) => {
    const cited = { citationsContent: { content: [{ text: 'Ja.' }], citations: [citation] } }
    const { chat, upstream } = await bedrockGateway()
    upstream.next(json({ output: { message: { content: [cited] } } }))
    expect(await (await chat({ model: 'm', messages: question })).json()).toMatchObject({
      choices: [{ message: { annotations: [{ url_citation: { url: '', title } }] } }],
    })
  })
})

function source(start_index: number, end_index: number, more: object): object {
  return { start_index, end_index, text: '', source_id: '', ...more }
}
