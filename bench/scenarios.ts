/** Number of frames with a choice in a streamed response; the usage chunk and `[DONE]` follow. */
export const streamedChunks = 100
export const streamedFrames = streamedChunks + 2

export const answerText =
  'A gateway stands between many clients and many model providers, and should cost little.'
const answerWords = answerText.split(' ')

/** The content of the chunks; the first has the role and the last the finish reason. */
export const streamedWords: readonly string[] = Array.from(
  { length: streamedChunks - 2 },
  (_, index) => ` ${answerWords[index % answerWords.length]}`,
)

/** The model whose streams arrive frame by frame. */
export const pacedModel = 'bench-paced'
export const models = ['bench', pacedModel]

/** A translated kind of each API. The model of each is named by `translatedModel`. */
export const translatedKinds = ['anthropic', 'google', 'bedrock', 'cohere'] as const

export function translatedModel(kind: string): string {
  return `bench-${kind}`
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

const question: readonly Message[] = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'What does a gateway between applications and model providers do?' },
]

/** One kind of load. Each connection has one request in flight and sends the next at once. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly connections: number
  /** The request for all subjects; or one request per row for the gateway alone. */
  readonly body: string | Readonly<Record<string, string>>
  /** Server-sent events that a complete answer has; 0 for a JSON answer. */
  readonly frames: number
  /** The measured subjects. Default: all except the gateway with auth. */
  readonly subjects?: readonly string[]
  /** Number of parts of each round, for responses of a few milliseconds. Default: 1. */
  readonly parts?: number
  /** Factor of the warm-up, for subjects without an earlier scenario. Default: 1. */
  readonly warmUps?: number
}

/** The name for `--only` of the scenario with the authenticated gateway. */
export const keyedScenario = 'json32auth'

export const scenarios: readonly Scenario[] = [
  json('json1', 1),
  { ...json('json32', 32), parts: 4 },
  json('json256', 256),
  {
    ...json(keyedScenario, 32),
    title: 'small JSON, 32 connections, auth off and on',
    subjects: ['gateway', 'keyed'],
    parts: 4,
    warmUps: 4,
  },
  stream('stream', '100-frame streams, 16 connections', 16, 'bench'),
  stream('firstbyte', '100-frame streams, 1 connection', 1, 'bench'),
  {
    name: 'translated',
    title: 'the same streams, verbatim and translated by kind, 16 connections',
    connections: 16,
    body: {
      verbatim: streamed('bench'),
      ...Object.fromEntries(translatedKinds.map((kind) => [kind, streamed(translatedModel(kind))])),
    },
    frames: streamedFrames,
  },
  stream('paced', '100-frame streams, a frame each millisecond, 16 connections', 16, pacedModel),
  {
    name: 'prompt200k',
    title: '200 kB prompts, 8 connections',
    connections: 8,
    body: chat('bench', longConversation()),
    frames: 0,
  },
]

function json(name: string, connections: number): Scenario {
  const title = `small JSON, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
  return { name, title, connections, body: chat('bench', question), frames: 0 }
}

function stream(name: string, title: string, connections: number, model: string): Scenario {
  return { name, title, connections, body: streamed(model), frames: streamedFrames }
}

function streamed(model: string): string {
  return chat(model, question, { stream: true, stream_options: { include_usage: true } })
}

function chat(model: string, messages: readonly Message[], options: object = {}): string {
  return JSON.stringify({ model, ...options, messages, temperature: 0.2 })
}

function longConversation(): Message[] {
  const paragraph = `${'“Say it plainly,” she wrote, “and then say why.”\n'.repeat(94)}\t— a note`
  return Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: paragraph,
  }))
}
