import { strategies } from '../src/core/route.ts'

/** Number of frames with a choice in a streamed response; the usage chunk and `[DONE]` follow. */
export const streamedChunks = 100
export const streamedFrames = streamedChunks + 2

export const answerText =
  'A gateway stands between many clients and many model providers, and should cost little.'
const answerWords = answerText.split(' ')

/** The content of the chunks; the first has the role and the last the finish reason. */
export const streamedWords = listWords(streamedChunks - 2)

/** The model of coding agents: its streams have 300 frames with a choice. */
export const agentModel = 'bench-agent'
const agentChunks = 300
export const agentWords = listWords(agentChunks - 2)

function listWords(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => ` ${answerWords[index % answerWords.length]}`)
}

/** The model whose streams arrive frame by frame. */
export const pacedModel = 'bench-paced'
/** The model of all other rows. */
export const benchModel = 'bench'
/** The models behind the routes of `route4`: other names of the same model. */
export const routeTargets = ['bench-1', 'bench-2', 'bench-3', 'bench-4'] as const
const [firstTarget] = routeTargets

/** The route over these targets that orders them by a strategy. */
export function routeName(strategy: string): string {
  return `bench-${strategy}`
}

export const models = [benchModel, pacedModel, agentModel]

/** A translated kind of each API. The model of each is named by `translatedModel`. */
export const translatedKinds = ['anthropic', 'google', 'bedrock', 'cohere'] as const

/** The model of a translated kind. */
export function translatedModel(kind: string): string {
  return `bench-${kind}`
}

/** The models of vendors that speak the Messages API and the Gemini API. */
const claude = translatedModel('anthropic')
const geminiModel = translatedModel('google')

interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

const question: readonly Message[] = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'What does a gateway between applications and model providers do?' },
]

/** Events of the Messages API besides the deltas of the text. */
const messageEvents = 5
/** Events of the Responses API besides the deltas of the text. */
const responseEvents = 8

/** One request, and what a complete answer to it has. */
export interface Asked {
  readonly path: string
  readonly body: string
  /** Server-sent events; 0 for a JSON answer. */
  readonly frames: number
}

/** A request of one row. */
interface NamedRequest extends Asked {
  readonly name: string
}

/** One kind of load. Each connection has one request in flight and sends the next at once. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly connections: number
  /** The request for all subjects; or one request per row for the gateway alone. */
  readonly asked: Asked | readonly NamedRequest[]
  /** The measured subjects. Default: all except the gateway with auth. */
  readonly subjects?: readonly string[]
  /** Number of parts of each round, for responses of a few milliseconds. Default: 1. */
  readonly parts?: number
  /**
   * The requests come at half the rate that the slowest of the subjects serves, instead of as fast as they are
   * answered.
   */
  readonly isHalfLoad?: boolean
  /** Each round has the first so many requests after a start, of a process of its own and without a warm-up. */
  readonly firstRequests?: number
  /** Factor of the warm-up, for subjects without an earlier scenario. Default: 1. */
  readonly warmUps?: number
}

/** The name for `--only` of the measurement of start and idle memory. */
export const startName = 'start'
/** That of the measurement of long conversations. */
export const turnsName = 'turns100'
/** That of the measurement of the hops of a stream. */
export const hopsName = 'hops'
/** That of the measurement of large embeddings. */
export const embeddingsName = 'embeddings'
/** That of the measurement of a long usage log. */
export const usageName = 'usage'
/** That of the measurement under each release line of Node. */
export const nodesName = 'nodes'
/** That of the count of instructions. */
export const instructionsName = 'instructions'

/** The name for `--only` of the scenario with the authenticated gateway. */
export const keyedScenario = 'json32auth'

/** The name of the scenario at half load. */
export const halfScenario = 'half32'

/** The name of the scenario of processes that have just started. */
export const coldScenario = 'cold'

/** The names of the scenarios with a shared state. */
export const sharedScenarios = ['shared1', 'shared32'] as const

/** The name of the scenario whose frames arrive alone. */
export const pacedScenario = 'paced'

/** The name of the scenario with routes. */
export const routeScenario = 'route4'
/** The name for `--only` of the scenario with the cache. */
export const cacheScenario = 'cache32'

/** The rows of the scenarios that compare the doors; the first is verbatim chat. */
export const doorRows = {
  chat: 'chat, verbatim',
  messagesNative: 'messages, native',
  messages: 'messages to openai',
  responses: 'responses to openai',
  responsesClaude: 'responses to claude',
  geminiNative: 'gemini, native',
  gemini: 'gemini to openai',
} as const

/** The rows whose requests pass in the API of the vendor. */
export const nativeRows: readonly string[] = [doorRows.messagesNative, doorRows.geminiNative]

export const scenarios: readonly Scenario[] = [
  {
    ...json(coldScenario, 1),
    title: 'small JSON, 1 connection, the first 2,000 requests after a start',
    firstRequests: 2_000,
  },
  json('json1', 1),
  { ...json('json32', 32), parts: 4 },
  json('json256', 256),
  {
    ...json(halfScenario, 32),
    title: 'small JSON, 32 connections, at half the rate that the slowest of them serves',
    isHalfLoad: true,
  },
  {
    ...json(keyedScenario, 32),
    title: 'small JSON, 32 connections, auth off and on',
    subjects: ['baseline', 'gateway', 'keyed'],
    parts: 4,
    warmUps: 4,
  },
  {
    ...json('shared1', 1),
    title: 'small JSON, 1 connection, with auth: state in memory and shared',
    subjects: ['keyed', 'sharing'],
    warmUps: 4,
  },
  {
    ...json('shared32', 32),
    title: 'small JSON, 32 connections, with auth: state in memory and shared',
    subjects: ['keyed', 'sharing'],
    parts: 4,
    warmUps: 4,
  },
  {
    ...json(cacheScenario, 32),
    title: 'small JSON, 32 connections, from the upstream and from the cache',
    subjects: ['gateway', 'cached'],
    parts: 4,
    warmUps: 4,
  },
  stream('stream', '100-frame streams, 16 connections', 16, 'bench'),
  stream('firstbyte', '100-frame streams, 1 connection', 1, 'bench'),
  {
    name: 'translated',
    title: 'the same streams, verbatim and translated by kind, 16 connections',
    connections: 16,
    asked: [
      { name: 'verbatim', ...streamedChat('bench') },
      ...translatedKinds.map((kind) => ({ name: kind, ...streamedChat(translatedModel(kind)) })),
    ],
  },
  {
    name: routeScenario,
    title: 'small JSON to a model and to routes over four targets, 32 connections',
    connections: 32,
    parts: 4,
    asked: [
      // One of the targets: its name is replaced on the way, as that of a route is.
      { name: 'model', ...chat(firstTarget, question) },
      ...strategies.map((name) => ({ name, ...chat(routeName(name), question) })),
    ],
  },
  {
    name: 'doors32',
    title: 'small JSON through each door, 32 connections',
    connections: 32,
    parts: 4,
    asked: [
      { name: doorRows.chat, ...chat('bench', question) },
      { name: doorRows.messagesNative, ...messages(claude, false) },
      { name: doorRows.messages, ...messages('bench', false) },
      { name: doorRows.responses, ...responses('bench', false) },
      { name: doorRows.responsesClaude, ...responses(claude, false) },
      { name: doorRows.geminiNative, ...gemini(geminiModel, 0) },
      { name: doorRows.gemini, ...gemini('bench', 0) },
    ],
  },
  {
    name: 'doorstreams',
    title: '100-frame streams through each door, 16 connections',
    connections: 16,
    asked: [
      { name: doorRows.chat, ...streamedChat('bench') },
      { name: doorRows.messagesNative, ...messages(claude, true) },
      { name: doorRows.messages, ...messages('bench', true) },
      { name: doorRows.responses, ...responses('bench', true) },
      { name: doorRows.responsesClaude, ...responses(claude, true) },
      { name: doorRows.geminiNative, ...gemini(geminiModel, streamedWords.length) },
      // The last chunk has the reason to end and the usage.
      { name: doorRows.gemini, ...gemini('bench', streamedWords.length + 1) },
    ],
  },
  stream(
    pacedScenario,
    '100-frame streams, a frame each millisecond, 16 connections',
    16,
    pacedModel,
  ),
  {
    name: 'prompt200k',
    title: '200 kB prompts, 8 connections',
    connections: 8,
    asked: chat('bench', longConversation()),
  },
  {
    name: 'agent',
    title: 'a coding agent: 230 kB in 400 messages, streams of 300 frames, 8 connections',
    connections: 8,
    asked: {
      path: '/v1/chat/completions',
      body: JSON.stringify(agentRequest()),
      frames: agentChunks + 2,
    },
  },
]

/** Returns the scenario with that name. Throws when it does not exist. */
export function findScenario(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name)
  if (!scenario) throw new Error(`no scenario ${name}`)
  return scenario
}

function json(name: string, connections: number): Scenario {
  const title = `small JSON, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
  return { name, title, connections, asked: chat('bench', question) }
}

function stream(name: string, title: string, connections: number, model: string): Scenario {
  return { name, title, connections, asked: streamedChat(model) }
}

function streamedChat(model: string): Asked {
  const options = { stream: true, stream_options: { include_usage: true } }
  return { ...chat(model, question, options), frames: streamedFrames }
}

function chat(model: string, said: readonly Message[], options: object = {}): Asked {
  const body = JSON.stringify({ model, ...options, messages: said, temperature: 0.2 })
  return { path: '/v1/chat/completions', body, frames: 0 }
}

function messages(model: string, isStreamed: boolean): Asked {
  const [system, ...said] = question
  const request = { model, stream: isStreamed, max_tokens: 100, system: system?.content }
  return {
    path: '/v1/messages',
    body: JSON.stringify({ ...request, messages: said, temperature: 0.2 }),
    frames: isStreamed ? streamedWords.length + messageEvents : 0,
  }
}

function responses(model: string, isStreamed: boolean): Asked {
  const [system, user] = question
  const request = { model, stream: isStreamed, instructions: system?.content }
  return {
    path: '/v1/responses',
    body: JSON.stringify({ ...request, input: user?.content, temperature: 0.2 }),
    frames: isStreamed ? streamedWords.length + responseEvents : 0,
  }
}

/** `frames` is 0 for a whole answer. */
function gemini(model: string, frames: number): Asked {
  const [system, user] = question
  const method = frames > 0 ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const body = {
    contents: [{ role: 'user', parts: [{ text: user?.content }] }],
    systemInstruction: { parts: [{ text: system?.content }] },
    generationConfig: { temperature: 0.2 },
  }
  return { path: `/v1beta/models/${model}:${method}`, body: JSON.stringify(body), frames }
}

/** A request of a coding agent late in its work: calls of tools and their results, and some text. */
function agentRequest(): object {
  const code = '  const total = items.reduce((sum, { price }) => sum + price, 0) // “gross”, in €\n'
  const turns = Array.from({ length: 100 }, (_, turn) => [
    { role: 'user', content: `Now the next step, number ${turn}: keep the tests green.` },
    {
      role: 'assistant',
      content: 'I read the file first.',
      tool_calls: [
        {
          id: `call_${turn}`,
          type: 'function',
          function: {
            name: 'read_file',
            arguments: JSON.stringify({ path: `src/file-${turn}.ts` }),
          },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${turn}`, content: code.repeat(21) },
    { role: 'assistant', content: `Done. ${'The change is small. '.repeat(5)}` },
  ]).flat()
  const tools = ['read_file', 'write_file', 'run', 'search'].map((name) => ({
    type: 'function',
    function: {
      name,
      description: 'Works on the files of the project.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  }))
  const options = { stream: true, stream_options: { include_usage: true }, tools }
  return { model: agentModel, ...options, messages: turns }
}

function longConversation(): Message[] {
  const paragraph = `${'“Say it plainly,” she wrote, “and then say why.”\n'.repeat(94)}\t— a note`
  return Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: paragraph,
  }))
}
