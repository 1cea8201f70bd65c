import { awsEvent } from '../support/aws-event-stream.ts'

/*
 * Answers of vendors that have one thing many times, whole and as streams.
 */

/** The answers of one API, by what they have many times. */
export interface AnswerAxis {
  /** The id of the model whose vendor answers so. */
  readonly model: string
  readonly name: string
  readonly isStream: boolean
  readonly make: (count: number) => string | Uint8Array
}

function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: Math.ceil(count) }, (_, at) => make(at))
}

type Json = Readonly<Record<string, unknown>>
type MakeParts = (count: number) => readonly Json[]

const chatChoice = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'x', ...message }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

const thinking = { type: 'thinking', thinking: 'x', signature: 's' }
const signature = { google: { thought_signature: 'c2ln' } }
const link = (at: number) => ({
  type: 'url_citation',
  url_citation: { url: `https://x.test/${at}`, title: 't', start_index: 0, end_index: 1 },
})
const openaiCall = (at: number) => ({
  index: at,
  id: `c${at}`,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
})

const openaiMessages: Readonly<Record<string, (count: number) => Json>> = {
  calls: (count) => ({ tool_calls: times(count, openaiCall) }),
  'calls with signatures': (count) => ({
    tool_calls: times(count, (at) => ({ ...openaiCall(at), extra_content: signature })),
  }),
  annotations: (count) => ({ annotations: times(count, link) }),
  'parts of text': (count) => ({ content: times(count, () => ({ type: 'text', text: 'x' })) }),
  'thinking blocks': (count) => ({ thinking_blocks: times(count, () => thinking) }),
  'reasoning details': (count) => ({ reasoning_details: times(count, () => ({ text: 'x' })) }),
}

function sse(events: readonly object[], end = ''): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const openaiStream = (deltas: readonly object[]) =>
  sse([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')], 'data: [DONE]\n\n')

const openaiDeltas: Readonly<Record<string, MakeParts>> = {
  texts: (count) => times(count, () => ({ content: 'x' })),
  calls: (count) => times(count, (at) => ({ tool_calls: [openaiCall(at)] })),
  'pieces of a call': (count) => [
    { tool_calls: [openaiCall(0)] },
    ...times(count, () => ({ tool_calls: [{ index: 0, function: { arguments: ' ' } }] })),
  ],
  'calls with signatures': (count) =>
    times(count, (at) => ({ tool_calls: [{ ...openaiCall(at), extra_content: signature }] })),
  annotations: (count) => times(count, (at) => ({ content: 'x', annotations: [link(at)] })),
  reasoning: (count) => times(count, () => ({ reasoning_content: 'x' })),
  'reasoning between texts': (count) =>
    times(count, (at) => (at % 2 ? { reasoning_content: 'x' } : { content: 'x' })),
  'thinking blocks': (count) => times(count, () => ({ thinking_blocks: [thinking] })),
  refusals: (count) => times(count, () => ({ refusal: 'x' })),
}

const cite = (at: number) => ({
  type: 'web_search_result_location',
  url: `https://x.test/${at}`,
  title: 't',
  cited_text: 'x',
})

const claudeBlocks: Readonly<Record<string, MakeParts>> = {
  texts: (count) => times(count, () => ({ type: 'text', text: 'x' })),
  'texts with citations': (count) =>
    times(count, (at) => ({ type: 'text', text: 'x', citations: [cite(at)] })),
  'citations of a text': (count) => [{ type: 'text', text: 'x', citations: times(count, cite) }],
  thinking: (count) => times(count, () => thinking),
  'thinking between texts': (count) =>
    times(count, (at) => (at % 2 ? thinking : { type: 'text', text: 'x' })),
  'thinking without proof': (count) =>
    times(count, (at) => (at % 2 ? { ...thinking, signature: '' } : { type: 'text', text: 'x' })),
  calls: (count) =>
    times(count, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
  'tools that the vendor ran': (count) =>
    times(count, (at) => ({
      type: 'server_tool_use',
      id: `c${at}`,
      name: 'web_search',
      input: {},
    })),
}

const claudeAnswer = (content: readonly Json[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 2 },
})

/** `started` are blocks that the first event has already. */
function claudeStream(blocks: readonly Json[], started: readonly Json[] = []): string {
  return [
    { type: 'message_start', message: { ...claudeAnswer(started), stop_reason: null } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

const claudeDeltas = (
  deltas: readonly object[],
  block: object = { type: 'text', text: '' },
): string =>
  claudeStream([block as Json]).replace(
    'event: content_block_stop',
    deltas
      .map(
        (delta) =>
          `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}\n\n`,
      )
      .join('') + 'event: content_block_stop',
  )

const claudePieces: Readonly<Record<string, (count: number) => string>> = {
  'pieces of a text': (count) =>
    claudeDeltas(times(count, () => ({ type: 'text_delta', text: 'x' }))),
  'pieces of a call': (count) =>
    claudeDeltas(
      [
        { type: 'input_json_delta', partial_json: '{"a":[1' },
        ...times(count, () => ({ type: 'input_json_delta', partial_json: ',1' })),
        { type: 'input_json_delta', partial_json: ']}' },
      ],
      { type: 'tool_use', id: 'c', name: 'f', input: {} },
    ),
  'pieces of thinking': (count) =>
    claudeDeltas(
      [
        ...times(count, () => ({ type: 'thinking_delta', thinking: 'x' })),
        { type: 'signature_delta', signature: 's' },
      ],
      { type: 'thinking', thinking: '', signature: '' },
    ),
  'citations in pieces': (count) =>
    claudeDeltas(times(count, (at) => ({ type: 'citations_delta', citation: cite(at) }))),
}

const gemini = (parts: readonly Json[], more: object = {}) => ({
  responseId: 'r',
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...more }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
})

const geminiCandidates = (count: number) => ({
  ...gemini([]),
  candidates: times(count, (index) => ({
    index,
    content: { role: 'model', parts: [{ text: 'x' }] },
    finishReason: 'STOP',
  })),
})

const geminiParts: Readonly<Record<string, MakeParts>> = {
  texts: (count) => times(count, () => ({ text: 'x' })),
  'signed texts': (count) => times(count, () => ({ text: 'x', thoughtSignature: 's' })),
  'thoughts between texts': (count) =>
    times(count, (at) => ({ text: 'x', ...(at % 2 && { thought: true }) })),
  calls: (count) => times(count, () => ({ functionCall: { name: 'f', args: {} } })),
  'signed calls': (count) =>
    times(count, () => ({ functionCall: { name: 'f', args: {} }, thoughtSignature: 's' })),
  images: (count) => times(count, () => ({ inlineData: { mimeType: 'image/png', data: 'QUJD' } })),
  'code and its results': (count) =>
    times(count, () => ({ executableCode: { language: 'PYTHON', code: 'x' } })),
}

const support = (at: number, text = 'word') => ({
  segment: { startIndex: 5 * at, endIndex: 5 * at + 4, text },
  groundingChunkIndices: [at],
})
const chunks = (count: number) =>
  times(count, (at) => ({ web: { uri: `https://x.test/${at}`, title: 't' } }))

/** Sources of a text that grows with them. */
const geminiSources: Readonly<Record<string, (count: number) => object>> = {
  'supports of a text': (count) => ({
    groundingMetadata: {
      groundingChunks: chunks(count),
      groundingSupports: times(count, (at) => support(at)),
    },
  }),
  'supports at another place': (count) => ({
    groundingMetadata: {
      groundingChunks: chunks(count),
      groundingSupports: times(count, (at) => support(at, 'ord word wor')),
    },
  }),
  'supports that are nowhere': (count) => ({
    groundingMetadata: {
      groundingChunks: chunks(count),
      groundingSupports: times(count, (at) => support(at, 'nowhere')),
    },
  }),
  'recited sources': (count) => ({
    citationMetadata: {
      citationSources: times(count, (at) => ({
        startIndex: 5 * at,
        endIndex: 5 * at + 4,
        uri: `https://x.test/${at}`,
      })),
    },
  }),
  'sources of the whole text': (count) => ({
    citationMetadata: {
      citationSources: times(count, (at) => ({
        startIndex: 0,
        endIndex: Math.ceil(count) * 5,
        uri: `https://x.test/${at}`,
      })),
    },
  }),
  'addresses that were read': (count) => ({
    urlContextMetadata: {
      urlMetadata: times(count, (at) => ({ retrievedUrl: `https://x.test/${at}` })),
    },
  }),
}
const words = (count: number) => ({ text: 'word '.repeat(Math.ceil(count)) })

const converse = (content: readonly Json[]) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
})

const bedrockBlocks: Readonly<Record<string, MakeParts>> = {
  texts: (count) => times(count, () => ({ text: 'x' })),
  calls: (count) =>
    times(count, (at) => ({ toolUse: { toolUseId: `c${at}`, name: 'f', input: {} } })),
  reasoning: (count) =>
    times(count, () => ({ reasoningContent: { reasoningText: { text: 'x', signature: 's' } } })),
  'reasoning between texts': (count) =>
    times(count, (at) =>
      at % 2
        ? { reasoningContent: { reasoningText: { text: 'x', signature: 's' } } }
        : { text: 'x' },
    ),
  'cited texts': (count) =>
    times(count, (at) => ({
      citationsContent: {
        content: [{ text: 'x' }],
        citations: [{ title: 't', location: { web: { url: `https://x.test/${at}` } } }],
      },
    })),
}

function bedrockStream(blocks: readonly Json[]): Uint8Array {
  const events = blocks.flatMap((block, contentBlockIndex) => {
    const { text, toolUse, reasoningContent, citationsContent } = block as {
      readonly text?: string
      readonly toolUse?: { readonly toolUseId: string; readonly name: string }
      readonly reasoningContent?: { readonly reasoningText: object }
      readonly citationsContent?: { readonly citations: readonly object[] }
    }
    const start = toolUse
      ? [awsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse } })]
      : []
    const delta = toolUse
      ? { toolUse: { input: '{}' } }
      : reasoningContent
        ? { reasoningContent: reasoningContent.reasoningText }
        : citationsContent
          ? { citation: citationsContent.citations[0] }
          : { text }
    return [
      ...start,
      awsEvent('contentBlockDelta', { contentBlockIndex, delta }),
      awsEvent('contentBlockStop', { contentBlockIndex }),
    ]
  })
  return Buffer.concat([
    awsEvent('messageStart', { role: 'assistant' }),
    ...events,
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
  ])
}

const cohere = (message: object) => ({
  id: 'r',
  finish_reason: 'COMPLETE',
  message: { role: 'assistant', content: [{ type: 'text', text: 'x' }], ...message },
  usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
})
const cohereCall = (at: number) => ({
  id: `c${at}`,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
})
const cohereCitation = (at: number) => ({
  start: 0,
  end: 1,
  text: 'x',
  sources: [
    { type: 'document', id: `d${at}`, document: { title: 't', url: `https://x.test/${at}` } },
  ],
})
const citedSources = (count: number) => ({
  ...cohereCitation(0),
  sources: times(count, (at) => cohereCitation(at).sources[0]),
})
const cohereMessages: Readonly<Record<string, (count: number) => object>> = {
  texts: (count) => ({ content: times(count, () => ({ type: 'text', text: 'x' })) }),
  calls: (count) => ({ content: undefined, tool_plan: 'x', tool_calls: times(count, cohereCall) }),
  citations: (count) => ({ citations: times(count, cohereCitation) }),
  'sources of a citation': (count) => ({ citations: [citedSources(count)] }),
}
const cohereStream = (events: readonly object[]) =>
  sse(
    [
      { type: 'message-start', id: 'r', delta: { message: { role: 'assistant' } } },
      ...events,
      {
        type: 'message-end',
        delta: {
          finish_reason: 'COMPLETE',
          usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
        },
      },
    ],
    'data: [DONE]\n\n',
  )
const cohereEvents: Readonly<Record<string, MakeParts>> = {
  texts: (count) =>
    times(count, (index) => [
      { type: 'content-start', index, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index, delta: { message: { content: { text: 'x' } } } },
      { type: 'content-end', index },
    ]).flat(),
  calls: (count) =>
    times(count, (index) => [
      { type: 'tool-call-start', index, delta: { message: { tool_calls: cohereCall(index) } } },
      { type: 'tool-call-end', index },
    ]).flat(),
  citations: (count) => [
    {
      type: 'content-start',
      index: 0,
      delta: { message: { content: { type: 'text', text: '' } } },
    },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'x' } } } },
    ...times(count, (index) => [
      { type: 'citation-start', index, delta: { message: { citations: cohereCitation(index) } } },
      { type: 'citation-end', index },
    ]).flat(),
  ],
  'sources of a citation': (count) => [
    {
      type: 'citation-start',
      index: 0,
      delta: { message: { citations: citedSources(count) } },
    },
  ],
}

interface AxisGroup {
  readonly model: string
  readonly isStream: boolean
}

function group<Content>(
  { model, isStream }: AxisGroup,
  contents: Readonly<Record<string, (count: number) => Content>>,
  write: (content: Content, count: number) => string | Uint8Array,
): readonly AnswerAxis[] {
  return Object.entries(contents).map(([name, make]) => ({
    model,
    name,
    isStream,
    make: (count) => write(make(count), count),
  }))
}

/** The same things in one event of a stream. */
function inOneEvent<Content>(
  contents: Readonly<Record<string, (count: number) => Content>>,
): Readonly<Record<string, (count: number) => Content>> {
  return Object.fromEntries(
    Object.entries(contents).map(([name, make]) => [`${name} in one event`, make]),
  )
}

const whole = (model: string): AxisGroup => ({ model, isStream: false })
const streamed = (model: string): AxisGroup => ({ model, isStream: true })

/** Every axis of every vendor's answers. */
export const answerAxes: readonly AnswerAxis[] = [
  ...group(whole('openai'), openaiMessages, (message) => JSON.stringify(chatChoice(message))),
  ...group(streamed('openai'), openaiDeltas, openaiStream),
  ...group(streamed('openai'), inOneEvent(openaiMessages), (message) =>
    openaiStream([{ content: 'x', ...message }]),
  ),
  ...group(whole('anthropic'), claudeBlocks, (blocks) => JSON.stringify(claudeAnswer(blocks))),
  ...group(streamed('anthropic'), claudeBlocks, (blocks) => claudeStream(blocks)),
  ...group(streamed('anthropic'), inOneEvent(claudeBlocks), (blocks) => claudeStream([], blocks)),
  ...group(streamed('anthropic'), claudePieces, (text) => text),
  ...group(whole('google'), geminiParts, (parts) => JSON.stringify(gemini(parts))),
  ...group(streamed('google'), geminiParts, (parts) => sse(parts.map((part) => gemini([part])))),
  ...group(streamed('google'), inOneEvent(geminiParts), (parts) => sse([gemini(parts)])),
  ...group(whole('google'), { candidates: (count: number) => count }, (count) =>
    JSON.stringify(geminiCandidates(count)),
  ),
  ...group(streamed('google'), { 'candidates in one event': (count: number) => count }, (count) =>
    sse([geminiCandidates(count)]),
  ),
  ...group(whole('google'), geminiSources, (sources, count) =>
    JSON.stringify(gemini([words(count)], sources)),
  ),
  ...group(streamed('google'), geminiSources, (sources, count) =>
    sse([gemini([words(count)]), gemini([], sources)]),
  ),
  ...group(
    streamed('google'),
    { 'recited sources in each event': (count: number) => count },
    (count) =>
      sse(
        times(count, (at) =>
          gemini([{ text: 'word ' }], {
            citationMetadata: {
              citationSources: [
                { startIndex: 5 * at, endIndex: 5 * at + 4, uri: `https://x.test/${at}` },
              ],
            },
          }),
        ),
      ),
  ),
  ...group(whole('bedrock'), bedrockBlocks, (blocks) => JSON.stringify(converse(blocks))),
  ...group(streamed('bedrock'), bedrockBlocks, bedrockStream),
  ...group(whole('cohere'), cohereMessages, (message) => JSON.stringify(cohere(message))),
  ...group(streamed('cohere'), cohereEvents, cohereStream),
]
