import { done } from './answers.ts'
import { terminal } from './stream-client.ts'

/** A stream as a vendor sends it, and the expected output of the gateway. */
export interface VendorStream {
  readonly name: string
  readonly kind: string
  readonly sent: string | Uint8Array
  /** The expected output; the input bytes when absent. */
  readonly shown?: string | Uint8Array
  /** The client requested a usage chunk. */
  readonly requestsUsage?: boolean
  readonly status?: number
  readonly tokens: readonly [input: number, output: number]
  readonly estimated?: boolean
}

/** Frames of these payloads, as LF-ended `data:` lines. */
const frames = (...payloads: readonly (object | string)[]): string =>
  payloads
    .map((payload) =>
      typeof payload === 'string' ? payload : `data: ${JSON.stringify(payload)}\n\n`,
    )
    .join('')

const head = (more: object) => ({
  id: 'chatcmpl-v1',
  object: 'chat.completion.chunk',
  created: 1_764_000_000,
  model: 'vendor-model',
  ...more,
})
const choice = (delta: object | undefined, finish: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, ...(delta && { delta }), logprobs: null, finish_reason: finish, ...more }],
})
const usage = (prompt: number, completion: number, more: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
})

const openai = frames(
  head({
    ...choice({ role: 'assistant', content: '', refusal: null }),
    usage: null,
    obfuscation: 'aX',
  }),
  head({ ...choice({ content: 'Grüße, 世界 🦆' }), usage: null, obfuscation: '' }),
  head({ ...choice({}, 'stop'), usage: null, obfuscation: 'q' }),
  head({ choices: [], usage: usage(9, 6, { prompt_tokens_details: { cached_tokens: 4 } }) }),
  done,
)

const azureFilter = { hate: { filtered: false, severity: 'safe' } }
const azure = frames(
  {
    choices: [],
    created: 0,
    id: '',
    model: '',
    object: '',
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: azureFilter }],
  },
  head(choice({ role: 'assistant', content: '' }, null, { content_filter_results: {} })),
  head(choice({ content: 'Hi' }, null, { content_filter_results: azureFilter })),
  head(
    choice(undefined, null, {
      content_filter_results: azureFilter,
      content_filter_offsets: { check_offset: 0, start_offset: 0, end_offset: 2 },
    }),
  ),
  head(choice({}, 'stop', { content_filter_results: {} })),
  head(choice(undefined, null, { content_filter_results: azureFilter })),
)
const azureUsage =
  'data: {"id":"chatcmpl-v1","object":"chat.completion.chunk","created":1764000000,"model":"vendor-model","choices":[{"index":0,"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9,"estimated":true}}\n\n'

const mistral = frames(
  head({ choices: [{ index: 0, delta: { content: '' }, finish_reason: null }] }),
  head(choice({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hmm' }] }] })),
  head(choice({ content: [{ type: 'text', text: 'Oui' }] })),
  head({ ...choice({ content: '' }, 'stop'), usage: usage(12, 7) }),
  done,
)

const groq = frames(
  head({ ...choice({ role: 'assistant', content: '' }), x_groq: { id: 'req_1', seed: 7 } }),
  head(choice({ reasoning: 'so' })),
  head(choice({ content: 'Fast' })),
  head({ ...choice({}, 'stop'), x_groq: { id: 'req_1', usage: usage(5, 3, { queue_time: 0.1 }) } }),
  done,
)

const perplexity = frames(
  head({ ...choice({ role: 'assistant', content: 'A' }), usage: usage(3, 1), citations: ['x'] }),
  head({ ...choice({ role: 'assistant', content: 'B' }), usage: usage(3, 2) }),
  head({
    ...choice({ role: 'assistant', content: '' }, 'stop'),
    object: 'chat.completion.done',
    usage: usage(3, 3),
  }),
)

const deepseek = frames(
  ': keep-alive\n\n',
  ': keep-alive\n\n',
  head({ ...choice({ role: 'assistant', content: null, reasoning_content: '' }), usage: null }),
  head({ ...choice({ content: null, reasoning_content: 'Let me see' }), usage: null }),
  ': keep-alive\n\n',
  head({ ...choice({ content: '42', reasoning_content: null }), usage: null }),
  head({
    ...choice({ content: '', reasoning_content: null }, 'stop'),
    usage: usage(20, 10, {
      prompt_cache_hit_tokens: 16,
      prompt_cache_miss_tokens: 4,
      completion_tokens_details: { reasoning_tokens: 6 },
    }),
  }),
  done,
)

const xai = frames(
  head({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Yo' } }] }),
  head({
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: 'f', arguments: '{"a":1}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
  }),
  head({
    choices: [],
    usage: {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 303,
      completion_tokens_details: { reasoning_tokens: 290 },
    },
  }),
  done,
)

const cerebras = frames(
  head({ time_info: { created: 1.5 } }),
  head(choice({ role: 'assistant', content: 'Quick' })),
  head({ ...choice({}, 'stop'), usage: usage(4, 1), time_info: { total_time: 0.01 } }),
  done,
)

const started = frames(head(choice({ role: 'assistant', content: 'Once' })))

const vllmError = {
  error: { message: 'CUDA out of memory', type: 'InternalServerError', code: 500 },
}
const openrouterError = head({
  error: { code: 502, message: 'Provider returned error' },
  choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
})

/** All features of SSE in one stream, which no vendor combines. */
const odd = [
  '\uFEFF: welcome\n\n',
  'event: message\nid: 7\nretry: 1000\n',
  `data: ${JSON.stringify(head(choice({ role: 'assistant', content: '' })))}\n\n`,
  ': [DONE]\n\n',
  'event: metadata\ndata: {"region":"eu"}\n\n',
  'note: data: [DONE]\ndata\n\n',
  `data:${JSON.stringify(head(choice({ content: 'data: [DONE]\n\n' })))}\n\n`,
  `data: ${JSON.stringify(head({ ...choice({ content: '[DONE]' }) })).replace('"object"', '\ndata: "object"')}\n\n`,
  'data: [1,2]\n\n',
  '\n\n',
  frames(head({ ...choice({}, 'stop'), usage: usage(1, 2) })),
].join('')

const crLf = (text: string) => text.replaceAll('\n', '\r\n')
const cr = (text: string) => text.replaceAll('\n', '\r')
/** Events with LF, CRLF and CR line ends. */
const mixed = (text: string) => {
  const ends = ['\n', '\r', '\r\n']
  return text
    .split(/(?<=\n\n)/)
    .map((event, at) => event.replaceAll('\n', ends[at % 3] ?? '\n'))
    .join('')
}

export const vendorStreams: readonly VendorStream[] = [
  {
    name: 'openai: usage in a chunk of its own',
    kind: 'openai',
    sent: openai,
    requestsUsage: true,
    tokens: [9, 6],
  },
  {
    name: 'azure: a filter frame first, chunks without a delta, no usage',
    kind: 'azure',
    sent: azure + done,
    shown: azure + azureUsage + done,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'mistral: content as an array, usage on the finish chunk',
    kind: 'mistral',
    sent: mistral,
    tokens: [12, 7],
  },
  { name: 'groq: usage under x_groq only', kind: 'groq', sent: groq, tokens: [5, 3] },
  {
    name: 'perplexity: running totals and no terminator',
    kind: 'perplexity',
    sent: perplexity,
    shown: perplexity + done,
    tokens: [3, 3],
  },
  {
    name: 'perplexity: with a terminator',
    kind: 'perplexity',
    sent: perplexity + done,
    tokens: [3, 3],
  },
  {
    name: 'deepseek: comments before and between',
    kind: 'deepseek',
    sent: deepseek,
    tokens: [20, 10],
  },
  {
    name: 'xai: reasoning outside of completion_tokens',
    kind: 'xai',
    sent: xai,
    tokens: [12, 291],
  },
  { name: 'cerebras: a chunk without choices', kind: 'cerebras', sent: cerebras, tokens: [4, 1] },
  {
    name: 'vllm: an error frame followed by a terminator',
    kind: 'vllm',
    sent: started + frames(vllmError, done),
    shown:
      started +
      terminal('provider p reported an error in its stream: CUDA out of memory', {
        upstream: {
          status: 500,
          code: 500,
          type: 'InternalServerError',
          message: 'CUDA out of memory',
        },
      }),
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'openrouter: an error beside a choice, then a terminator',
    kind: 'openrouter',
    sent: `: OPENROUTER PROCESSING\n\n${started}${frames(openrouterError, done)}`,
    shown: `: OPENROUTER PROCESSING\n\n${started}${terminal(
      'provider p reported an error in its stream: Provider returned error',
      { upstream: { status: 502, code: 502, message: 'Provider returned error' } },
    )}`,
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'huggingface: an error that is a plain string',
    kind: 'huggingface',
    sent: started + frames({ error: 'overloaded' }),
    shown:
      started +
      terminal('provider p reported an error in its stream: overloaded', {
        upstream: { message: 'overloaded' },
      }),
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'a proxy: an error event whose data is not JSON',
    kind: 'openai',
    sent: `${started}event: error\ndata: upstream gone\n\n`,
    shown:
      started +
      terminal('provider p reported an error in its stream: upstream gone', {
        upstream: { message: 'upstream gone' },
      }),
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'an end without a terminator',
    kind: 'openai',
    sent: started,
    shown: started + terminal('the stream of provider p ended before it was complete'),
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'an end in the middle of a frame: the rest of it is not shown',
    kind: 'openai',
    sent: `${started}data: {"id":"chatcmpl-v1","choices":[{"index":0,"del`,
    shown: started + terminal('the stream of provider p ended before it was complete'),
    status: 502,
    tokens: [8, 1],
    estimated: true,
  },
  {
    name: 'openai with CRLF',
    kind: 'openai',
    sent: crLf(openai),
    requestsUsage: true,
    tokens: [9, 6],
  },
  { name: 'openai with CR', kind: 'openai', sent: cr(openai), requestsUsage: true, tokens: [9, 6] },
  {
    name: 'openai with all three line ends',
    kind: 'openai',
    sent: mixed(openai),
    requestsUsage: true,
    tokens: [9, 6],
  },
  {
    name: 'openai after a byte order mark',
    kind: 'openai',
    sent: `\uFEFF${openai}`,
    requestsUsage: true,
    tokens: [9, 6],
  },
  {
    name: 'openai whose last frame lacks its blank line',
    kind: 'openai',
    sent: openai.slice(0, -1),
    shown: openai,
    requestsUsage: true,
    tokens: [9, 6],
  },
  {
    name: 'openai whose last frame lacks every line end',
    kind: 'openai',
    sent: openai.slice(0, -2),
    shown: openai,
    requestsUsage: true,
    tokens: [9, 6],
  },
  {
    name: 'bytes after the terminator',
    kind: 'openai',
    sent: `${openai}data: {"x":1}\n\n: bye\n\nnoise`,
    shown: openai,
    requestsUsage: true,
    tokens: [9, 6],
  },
  { name: 'every field that SSE has', kind: 'openai', sent: odd + done, tokens: [1, 2] },
  {
    name: 'every field that SSE has, with CRLF',
    kind: 'openai',
    sent: crLf(odd + done),
    tokens: [1, 2],
  },
  {
    name: 'every field that SSE has, with CR',
    kind: 'openai',
    sent: cr(odd + done),
    tokens: [1, 2],
  },
]
