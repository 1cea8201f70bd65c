import { send } from './api.ts'

export interface Question {
  readonly model: string
  readonly messages: readonly Message[]
  readonly signal: AbortSignal
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Who served an answer, and how. */
export interface Served {
  readonly requestId: string
  readonly model: string
  readonly provider: string
  readonly attempts: number
  readonly tokens?: number | undefined
  /** Why the model stopped; undefined until it has. */
  readonly finishReason?: string | undefined
  /** From the question to the first text, in milliseconds. */
  readonly firstTextMs?: number | undefined
  /** From the question until now, in milliseconds. */
  readonly elapsedMs: number
}

/** The answer so far. */
export interface PartialAnswer {
  readonly content: string
  readonly served: Served
}

/** Streams a chat completion. Rejects when it is refused, or fails halfway. */
export async function* ask({ model, messages, signal }: Question): AsyncGenerator<PartialAnswer> {
  const asked = performance.now()
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
  const header = (name: string) => response.headers.get(name) ?? ''
  let content = ''
  let served: Served = {
    requestId: header('x-request-id'),
    model: header('x-gateway-model-used'),
    provider: header('x-gateway-provider'),
    attempts: Number(header('x-gateway-attempts')),
    elapsedMs: 0,
  }
  for await (const data of readEvents(response)) {
    if (data === '[DONE]') return
    const chunk = JSON.parse(data) as Chunk
    if (chunk.error) throw new Error(chunk.error.message)
    const [choice] = chunk.choices ?? []
    content += choice?.delta?.content ?? ''
    const elapsedMs = performance.now() - asked
    served = {
      ...served,
      elapsedMs,
      tokens: chunk.usage?.total_tokens ?? served.tokens,
      finishReason: choice?.finish_reason ?? served.finishReason,
      firstTextMs: served.firstTextMs ?? (content === '' ? undefined : elapsedMs),
    }
    yield { content, served }
  }
  throw new Error('the stream broke off')
}

/** What the page reads of a chunk. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null }
    readonly finish_reason?: string | null
  }[]
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
