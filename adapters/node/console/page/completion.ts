import { send } from './api.ts'

export interface Question {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly signal: AbortSignal
}

/** Who served an answer. */
export interface Served {
  readonly model: string
  readonly provider: string
  readonly attempts: number
  readonly tokens?: number | undefined
}

/** The answer so far. */
export interface PartialAnswer {
  readonly content: string
  readonly served: Served
}

/** Streams a chat completion. Rejects when it is refused, or fails halfway. */
export async function* ask({ model, messages, signal }: Question): AsyncGenerator<PartialAnswer> {
  const response = await send('/api/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal,
  })
  const header = (name: string) => response.headers.get(`x-gateway-${name}`) ?? ''
  let content = ''
  let served: Served = {
    model: header('model-used'),
    provider: header('provider'),
    attempts: Number(header('attempts')),
  }
  for await (const data of readEvents(response)) {
    if (data === '[DONE]') return
    const chunk = JSON.parse(data) as Chunk
    if (chunk.error) throw new Error(chunk.error.message)
    content += chunk.choices?.[0]?.delta?.content ?? ''
    const tokens = chunk.usage?.total_tokens
    if (tokens !== undefined) served = { ...served, tokens }
    yield { content, served }
  }
  throw new Error('the stream broke off')
}

/** What the page reads of a chunk. */
interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: { readonly total_tokens: number } | null
  readonly error?: { readonly message: string }
}

async function* readEvents({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) yield line.slice('data:'.length).trim()
    }
  }
}
