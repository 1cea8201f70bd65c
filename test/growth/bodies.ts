import { encodeProof, type GivenProof } from '../../src/doors/proofs.ts'
import { geminiBodies } from './gemini-bodies.ts'

/*
 * Bodies of requests that have one thing many times. Each grows along one axis, and is otherwise as small as
 * it can be, so that work for each pair of things shows in the time.
 */

/** The members of a request besides its model. */
export type Body = Readonly<Record<string, unknown>>

/** Makes a body that has this many of one thing. */
export type MakeBody = (count: number) => Body

/** A door, by the path that is POSTed to. */
export type DoorPath =
  | 'chat/completions'
  | 'responses'
  | 'messages'
  | 'messages/count_tokens'
  | 'gemini'
  | 'gemini/count_tokens'
  | 'completions'
  | 'embeddings'
  | 'rerank'
  | 'decisions'

function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: Math.ceil(count) }, (_, at) => make(at))
}

/** An object with as many members. */
function members(count: number, make: (at: number) => unknown, letter = 'k'): object {
  return Object.fromEntries(times(count, (at) => [`${letter}${at}`, make(at)]))
}

/** A name of the greatest length that the doors pass on. */
function longName(at: number): string {
  return `n${at}`.padEnd(120, 'x')
}

const user = { role: 'user', content: 'x' }
const signature = { google: { thought_signature: 'c2ln' } }

const chat = (...messages: object[]): Body => ({ messages: [user, ...messages] })
const chatCall = (id: string, name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
})
const chatResult = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' })
const assistant = (more: object) => ({ role: 'assistant', content: 'x', ...more })
const chatTool = (name: string, parameters: object = { type: 'object' }) => ({
  type: 'function',
  function: { name, parameters },
})
const withSchema = (parameters: object): Body => ({ ...chat(), tools: [chatTool('f', parameters)] })
const part = { type: 'text', text: 'x' }
const png = 'data:image/png;base64,QUJD'

/** The vendor's own blocks of an answer, which a client returns. */
const returned = (family: string, text: string, content: readonly object[]): Body =>
  chat(
    { role: 'assistant', content: text, provider_content: { family, content } },
    { role: 'user', content: 'x' },
  )

/** Schemas, which all doors with tools have. */
const schemas: Readonly<Record<string, (count: number) => object>> = {
  properties: (count) => ({
    type: 'object',
    properties: members(count, () => ({ type: 'string' })),
  }),
  'required names': (count) => ({
    type: 'object',
    properties: members(count / 2, () => ({})),
    required: times(count / 2, (at) => `k${at}`),
  }),
  'enum values': (count) => ({
    type: 'object',
    properties: { a: { type: 'string', enum: times(count, (at) => `v${at}`) } },
  }),
  branches: (count) => ({
    type: 'object',
    properties: { a: { anyOf: times(count, (at) => ({ type: 'string', title: `${at}` })) } },
  }),
  'merged schemas': (count) => ({
    type: 'object',
    allOf: times(count, (at) => ({ properties: { [`k${at}`]: { type: 'string' } } })),
  }),
  references: (count) => ({
    type: 'object',
    $defs: members(count / 2, () => ({ type: 'string' }), 'd'),
    properties: members(count / 2, (at) => ({ $ref: `#/$defs/d${at}` })),
  }),
  'references to one definition': (count) => ({
    type: 'object',
    $defs: { d: { type: 'string' } },
    properties: members(count, () => ({ $ref: '#/$defs/d' })),
  }),
}

const chatBodies: Readonly<Record<string, MakeBody>> = {
  messages: (count) =>
    chat(...times(count, (at) => ({ role: at % 2 ? 'user' : 'assistant', content: 'x' }))),
  'messages of one role': (count) => chat(...times(count, () => user)),
  instructions: (count) => chat(...times(count, () => ({ role: 'system', content: 'x' })), user),
  parts: (count) => chat({ role: 'user', content: times(count, () => part) }),
  'parts of an answer': (count) => chat(assistant({ content: times(count, () => part) }), user),
  images: (count) =>
    chat({
      role: 'user',
      content: times(count, () => ({ type: 'image_url', image_url: { url: png } })),
    }),
  files: (count) =>
    chat({
      role: 'user',
      content: times(count, () => ({
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' },
      })),
    }),
  calls: (count) =>
    chat(
      assistant({ tool_calls: times(count / 2, (at) => chatCall(`c${at}`)) }),
      ...times(count / 2, (at) => chatResult(`c${at}`)),
    ),
  'calls with long names': (count) =>
    chat(assistant({ tool_calls: times(count, (at) => chatCall(`c${at}`, longName(at))) }), user),
  'calls of one id': (count) =>
    chat(
      assistant({ tool_calls: times(count / 2, () => chatCall('c')) }),
      ...times(count / 2, () => chatResult('c')),
    ),
  'calls with objects as arguments': (count) =>
    chat(
      assistant({
        tool_calls: times(count, (at) => ({
          id: `c${at}`,
          type: 'function',
          function: { name: 'f', arguments: { a: 1 } },
        })),
      }),
      user,
    ),
  'calls with signatures': (count) =>
    chat(
      assistant({
        tool_calls: times(count, (at) => ({ ...chatCall(`c${at}`), extra_content: signature })),
      }),
      user,
    ),
  'rounds of calls': (count) =>
    chat(
      ...times(count / 2, (at) => [
        { role: 'assistant', tool_calls: [chatCall(`c${at}`)] },
        chatResult(`c${at}`),
      ]).flat(),
    ),
  'results without calls': (count) => chat(...times(count, (at) => chatResult(`c${at}`))),
  'legacy calls': (count) =>
    chat(
      ...times(count / 2, () => [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'x' },
      ]).flat(),
    ),
  tools: (count) => ({ ...chat(), tools: times(count, (at) => chatTool(`f${at}`)) }),
  'allowed tools': (count) => ({
    ...chat(),
    tools: times(count / 2, (at) => chatTool(`f${at}`)),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'auto',
        tools: times(count / 2, (at) => ({ type: 'function', function: { name: `f${at}` } })),
      },
    },
  }),
  'stop sequences': (count) => ({ ...chat(), stop: times(count, (at) => `s${at}`) }),
  'thinking blocks': (count) =>
    chat(
      assistant({
        thinking_blocks: times(count, () => ({ type: 'thinking', thinking: 'x', signature: 's' })),
      }),
      user,
    ),
  'messages with thinking': (count) =>
    chat(
      ...times(count, () => [
        assistant({ thinking_blocks: [{ type: 'thinking', thinking: 'x', signature: 's' }] }),
        user,
      ]).flat(),
    ),
  annotations: (count) =>
    chat(
      assistant({
        annotations: times(count, (at) => ({
          type: 'url_citation',
          url_citation: { url: `https://x.test/${at}`, title: '', start_index: 0, end_index: 1 },
        })),
      }),
      user,
    ),
  'cache marks': (count) =>
    chat({
      role: 'user',
      content: times(count, () => ({ ...part, cache_control: { type: 'ephemeral' } })),
    }),
  "Google's parts": (count) =>
    returned(
      'google',
      'x'.repeat(Math.ceil(count)),
      times(count, () => ({ text: 'x', thoughtSignature: 's' })),
    ),
  "Claude's blocks": (count) =>
    returned(
      'anthropic',
      'x'.repeat(Math.ceil(count)),
      times(count, () => part),
    ),
  "Claude's calls in blocks": (count) =>
    chat(
      {
        role: 'assistant',
        content: 'x',
        tool_calls: times(count / 2, (at) => chatCall(`c${at}`)),
        provider_content: {
          family: 'anthropic',
          content: [
            part,
            ...times(count / 2, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
          ],
        },
      },
      ...times(count / 2, (at) => chatResult(`c${at}`)),
    ),
  "Bedrock's blocks": (count) =>
    returned(
      'bedrock',
      'x'.repeat(Math.ceil(count)),
      times(count, () => ({ text: 'x' })),
    ),
  "Cohere's blocks": (count) =>
    returned(
      'cohere',
      'x'.repeat(Math.ceil(count)),
      times(count, () => part),
    ),
  ...Object.fromEntries(
    Object.entries(schemas).map(([name, make]) => [
      `a schema of ${name}`,
      (count: number) => withSchema(make(count)),
    ]),
  ),
  'an answer schema of properties': (count) => ({
    ...chat(),
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'a', schema: schemas['properties']?.(count) },
    },
  }),
}

/** Encodes a proof as a client returns it, for the target of `model`. */
function prove(proof: Omit<GivenProof, 'model'>, model: string): string {
  return encodeProof({ ...proof, model }) ?? ''
}

type MakeProofs = (count: number, model: string) => { texts: string[]; calls: number }

const callProofs = (from: number, count: number) =>
  times(count, (at) => ({ id: `c${from + at}`, extra: signature }))

/** Texts in the gateway's own form, each with what it proves, and the number of calls behind them. */
const proofs: Readonly<Record<string, MakeProofs>> = {
  'empty proofs': (count, model) => ({ texts: times(count, () => prove({}, model)), calls: 1 }),
  'empty proofs before calls': (count, model) => ({
    texts: times(count / 2, () => prove({}, model)),
    calls: count / 2,
  }),
  'different proofs before calls': (count, model) => ({
    texts: times(count / 2, (at) => prove({ calls: callProofs(at, 1) }, model)),
    calls: count / 2,
  }),
  'proofs of many calls': (count, model) => ({
    texts: times(count / 2000, (at) => prove({ calls: callProofs(at * 1000, 1000) }, model)),
    calls: count / 2,
  }),
  'proofs of other calls': (count, model) => ({
    texts: times(count / 2000, (at) => prove({ calls: callProofs(1_000_000 + at, 1000) }, model)),
    calls: count / 2,
  }),
  'proofs of thinking': (count, model) => ({
    texts: times(count / 1000, () =>
      prove(
        { thinking: times(1000, () => ({ type: 'thinking', thinking: 'x', signature: 's' })) },
        model,
      ),
    ),
    calls: 1,
  }),
  'proofs of blocks': (count, model) => ({
    texts: [
      prove(
        {
          content: {
            family: 'anthropic',
            content: times(count, (at) => ({
              type: 'tool_use',
              id: `c${at}`,
              name: 'f',
              input: {},
            })),
          },
        },
        model,
      ),
    ],
    calls: 1,
  }),
}

const item = { type: 'message', role: 'user', content: 'x' }
const call = (at: number, name = 'f') => ({
  type: 'function_call',
  call_id: `c${at}`,
  name,
  arguments: '{}',
})
const output = (at: number) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'x' })
const input = (...items: object[]): Body => ({ input: [item, ...items] })
const functionTool = (at: number, parameters: object = { type: 'object' }) => ({
  type: 'function',
  name: `f${at}`,
  parameters,
})

const responsesBodies: Readonly<Record<string, MakeBody>> = {
  messages: (count) =>
    input(...times(count, (at) => (at % 2 ? item : { ...item, role: 'assistant' }))),
  'messages of the model': (count) =>
    input(...times(count, () => ({ ...item, role: 'assistant' })), item),
  parts: (count) =>
    input({ ...item, content: times(count, () => ({ type: 'input_text', text: 'x' })) }),
  images: (count) =>
    input({ ...item, content: times(count, () => ({ type: 'input_image', image_url: png })) }),
  'messages of images': (count) =>
    input(
      ...times(count / 2, () => ({
        ...item,
        content: [{ type: 'input_image', image_url: png }],
      })),
    ),
  calls: (count) => input(...times(count / 2, (at) => call(at)), ...times(count / 2, output)),
  'calls with long names': (count) => input(...times(count, (at) => call(at, longName(at))), item),
  'calls in namespaces': (count) =>
    input(...times(count, (at) => ({ ...call(at), namespace: `n${at}` })), item),
  'calls with objects as arguments': (count) =>
    input(...times(count, (at) => ({ ...call(at), arguments: { a: 1 } })), item),
  'custom calls': (count) =>
    input(
      ...times(count, (at) => ({
        type: 'custom_tool_call',
        call_id: `c${at}`,
        name: 'g',
        input: 'x',
      })),
      item,
    ),
  'rounds of calls': (count) => input(...times(count / 2, (at) => [call(at), output(at)]).flat()),
  'results of images': (count) =>
    input(
      ...times(count, (at) => ({
        ...output(at),
        output: [{ type: 'input_image', image_url: png }],
      })),
    ),
  'reasoning items': (count) =>
    input(
      ...times(count, () => ({ type: 'reasoning', summary: [], encrypted_content: 'of another' })),
      item,
    ),
  searches: (count) =>
    input(
      ...times(count / 3, (at) => [
        { type: 'tool_search_call', call_id: `c${at}`, arguments: {} },
        { type: 'tool_search_output', call_id: `c${at}`, tools: [functionTool(at)] },
      ]).flat(),
    ),
  'items that bring tools': (count) =>
    input(...times(count / 2, (at) => ({ type: 'additional_tools', tools: [functionTool(at)] }))),
  tools: (count) => ({ ...input(), tools: times(count, (at) => functionTool(at)) }),
  namespaces: (count) => ({
    ...input(),
    tools: times(count, (at) => ({ type: 'namespace', name: `n${at}`, tools: [functionTool(0)] })),
  }),
  'tools of one namespace': (count) => ({
    ...input(),
    tools: [{ type: 'namespace', name: 'n', tools: times(count, (at) => functionTool(at)) }],
  }),
  'deferred tools': (count) => ({
    ...input(),
    tools: times(count, (at) => ({ ...functionTool(at), defer_loading: true })),
  }),
  'custom tools': (count) => ({
    ...input(),
    tools: times(count, (at) => ({ type: 'custom', name: `g${at}` })),
  }),
  'allowed tools': (count) => ({
    ...input(),
    tools: times(count / 2, (at) => functionTool(at)),
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: times(count / 2, (at) => ({ type: 'function', name: `f${at}` })),
    },
  }),
  'allowed namespaces': (count) => ({
    ...input(),
    tools: times(count / 2, (at) => ({
      type: 'namespace',
      name: `n${at}`,
      tools: [functionTool(0)],
    })),
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: times(count / 2, (at) => ({ type: 'namespace', name: `n${at}` })),
    },
  }),
  'a schema of properties': (count) => ({
    ...input(),
    tools: [functionTool(0, schemas['properties']?.(count))],
  }),
}

const block = { type: 'text', text: 'x' }
const use = (at: number, name = 'f') => ({ type: 'tool_use', id: `c${at}`, name, input: {} })
const result = (at: number) => ({ type: 'tool_result', tool_use_id: `c${at}`, content: 'x' })
const say = (...messages: object[]): Body => ({ max_tokens: 9, messages: [user, ...messages] })

const messagesBodies: Readonly<Record<string, MakeBody>> = {
  messages: (count) =>
    say(...times(count, (at) => ({ ...user, role: at % 2 ? 'user' : 'assistant' }))),
  'messages of one role': (count) => say(...times(count, () => user)),
  blocks: (count) => say({ role: 'user', content: times(count, () => block) }),
  'blocks of an answer': (count) =>
    say({ role: 'assistant', content: times(count, () => block) }, user),
  'system blocks': (count) => ({ ...say(), system: times(count, () => block) }),
  'system messages': (count) =>
    say(...times(count, () => ({ role: 'system', content: 'x' })), user),
  'system messages behind calls': (count) =>
    say(
      { role: 'assistant', content: [use(0)] },
      ...times(count, () => ({ role: 'system', content: 'x' })),
      { role: 'user', content: [result(0)] },
    ),
  images: (count) =>
    say({
      role: 'user',
      content: times(count / 2, () => ({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'QUJD' },
      })),
    }),
  'messages of images': (count) =>
    say(
      ...times(count / 2, () => ({
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
        ],
      })),
    ),
  documents: (count) =>
    say({
      role: 'user',
      content: times(count / 2, () => ({ type: 'document', source: { type: 'text', data: 'x' } })),
    }),
  calls: (count) =>
    say(
      { role: 'assistant', content: times(count / 2, (at) => use(at)) },
      { role: 'user', content: times(count / 2, result) },
    ),
  'calls with long names': (count) =>
    say({ role: 'assistant', content: times(count, (at) => use(at, longName(at))) }, user),
  'rounds of calls': (count) =>
    say(
      ...times(count / 2, (at) => [
        { role: 'assistant', content: [use(at)] },
        { role: 'user', content: [result(at)] },
      ]).flat(),
    ),
  'results of images': (count) =>
    say({
      role: 'user',
      content: times(count / 2, (at) => ({
        ...result(at),
        content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
      })),
    }),
  thinking: (count) =>
    say(
      {
        role: 'assistant',
        content: [
          ...times(count, () => ({ type: 'thinking', thinking: 'x', signature: 's' })),
          block,
        ],
      },
      user,
    ),
  'thinking between calls': (count) =>
    say(
      {
        role: 'assistant',
        content: times(count / 2, (at) => [
          { type: 'thinking', thinking: 'x', signature: 's' },
          use(at),
        ]).flat(),
      },
      user,
    ),
  tools: (count) => ({
    ...say(),
    tools: times(count, (at) => ({ name: `f${at}`, input_schema: { type: 'object' } })),
  }),
  'vendor-run tools': (count) => ({
    ...say(),
    tools: times(count, (at) => ({ type: 'web_search_20250305', name: `w${at}` })),
  }),
  'stop sequences': (count) => ({ ...say(), stop_sequences: times(count, (at) => `s${at}`) }),
  'cache marks': (count) =>
    say({
      role: 'user',
      content: times(count, () => ({ ...block, cache_control: { type: 'ephemeral' } })),
    }),
  'a schema of properties': (count) => ({
    ...say(),
    tools: [{ name: 'f', input_schema: schemas['properties']?.(count) }],
  }),
}

/** One thing that a body has many times. */
export interface Axis {
  readonly door: DoorPath
  readonly name: string
  /** `model` is the id of the model that the body is for. */
  readonly make: (count: number, model: string) => Body
}

const proofAxes: readonly Axis[] = Object.entries(proofs).flatMap(([name, make]) => [
  {
    door: 'responses' as const,
    name,
    make(count: number, model: string) {
      const { texts, calls } = make(count, model)
      const items = texts.map((text) => ({
        type: 'reasoning',
        summary: [],
        encrypted_content: text,
      }))
      return input(...items, ...times(calls, (at) => call(at)), item)
    },
  },
  {
    door: 'messages' as const,
    name,
    make(count: number, model: string) {
      const { texts, calls } = make(count, model)
      const blocks = texts.map((text) => ({ type: 'thinking', thinking: '', signature: text }))
      return say(
        { role: 'assistant', content: [...blocks, ...times(calls, (at) => use(at))] },
        user,
      )
    },
  },
])

function axesOf(door: DoorPath, bodies: Readonly<Record<string, MakeBody>>): readonly Axis[] {
  return Object.entries(bodies).map(([name, make]) => ({ door, name, make }))
}

/** Every axis of every door. */
export const axes: readonly Axis[] = [
  ...axesOf('chat/completions', chatBodies),
  ...axesOf('responses', responsesBodies),
  ...axesOf('messages', messagesBodies),
  ...proofAxes,
  ...[...axesOf('messages', messagesBodies), ...proofAxes]
    .filter(({ door }) => door === 'messages')
    .map((axis) => ({ ...axis, door: 'messages/count_tokens' as const })),
  ...axesOf('gemini', geminiBodies),
  ...axesOf('gemini/count_tokens', geminiBodies),
  ...axesOf('completions', {
    prompts: (count) => ({ prompt: times(Math.min(count, 2000), (at) => `p${at}`) }),
    'stop sequences': (count) => ({ prompt: 'x', stop: times(count, (at) => `s${at}`) }),
  }),
  ...axesOf('embeddings', {
    texts: (count) => ({ input: times(Math.min(count, 16_000), (at) => `t${at}`) }),
    'token ids': (count) => ({ input: times(count, () => 1) }),
  }),
  ...axesOf('decisions', {
    questions: (count) => ({
      input: 'x',
      questions: times(count, () => ({ type: 'predicate', instructions: 'x' })),
    }),
    images: (count) => ({
      input: [
        {
          role: 'user',
          content: times(count, () => ({ type: 'input_image', image_url: 'data:image/png,A' })),
        },
      ],
      questions: [{}],
    }),
    members: (count) => ({ input: [members(count, () => ({}))], questions: [{}] }),
  }),
  ...axesOf('rerank', {
    documents: (count) => ({
      query: 'q',
      documents: times(Math.min(count, 16_000), (at) => `d${at}`),
    }),
    'members of documents': (count) => ({ query: 'q', documents: [members(count, () => 'x')] }),
    'rank fields': (count) => ({
      query: 'q',
      documents: [{ a: 'x' }],
      rank_fields: times(count, () => 'a'),
    }),
  }),
]
