/** Frames of a streamed answer that carry a choice; the usage chunk and `[DONE]` follow them. */
export const streamedChunks = 100
export const streamedFrames = streamedChunks + 2

/** The model whose streams arrive frame by frame. */
export const pacedModel = 'bench-paced'
export const models = ['bench', pacedModel]

interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

const question: readonly Message[] = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'What does a gateway between applications and model providers do?' },
]

/** One kind of load. Every connection has one request in flight and sends the next at once. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly connections: number
  readonly body: string
  /** Server-sent events that a complete answer has; 0 for a JSON answer. */
  readonly frames: number
}

export const scenarios: readonly Scenario[] = [
  json('json1', 1),
  json('json32', 32),
  json('json256', 256),
  stream('stream', '100-frame streams, 16 connections', 16, 'bench'),
  stream('firstbyte', '100-frame streams, 1 connection', 1, 'bench'),
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
  const options = { stream: true, stream_options: { include_usage: true } }
  return { name, title, connections, body: chat(model, question, options), frames: streamedFrames }
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
