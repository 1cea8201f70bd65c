import { randomUUID } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { costOf, maxTokens } from './prices.ts'

/** A key that requests use. */
export interface LoadKey {
  readonly id: string
  readonly secret: string
}

/** What a client has seen of a request that it has sent. */
export interface SeenRequest {
  readonly id: string
  readonly key: string
  /**
   * The whole answer; a refusal for a spent budget, or because the shared state is away; another error;
   * or an answer that was cut off or never began.
   */
  readonly end: 'answered' | 'refused' | 'away' | 'failed' | 'cut'
  readonly status: number | undefined
  /** The cost of the answer by its token counts, in nano-dollars; 0 without an answer. */
  readonly nano: number
}

export interface LoadOptions {
  readonly connections: number
  readonly keys: readonly LoadKey[]
  /** The ports of the gateways. A connection moves on to the next one when its gateway is away. */
  readonly ports: readonly number[]
}

/** Clients that send one request after the other, every second one as a stream. */
export class Load {
  /** The requests that have ended, in the order of their ends. */
  readonly seen: SeenRequest[] = []
  readonly #options: LoadOptions
  readonly #agent = new Agent({ keepAlive: true })
  readonly #clients: Promise<void>[]
  #isOver = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#clients = Array.from({ length: options.connections }, (_, at) => this.#run(at))
  }

  /** Lets the running requests end, and sends no others. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
    this.#agent.destroy()
  }

  async #run(client: number): Promise<void> {
    const { keys, ports } = this.#options
    let port = client
    for (let at = client; !this.#isOver; at++) {
      // Each index is within its list.
      const key = keys[at % keys.length] as LoadKey
      const seen = await this.#send(ports[port % ports.length] as number, key, at % 2 === 0)
      if (seen) this.seen.push(seen)
      if (seen && seen.end !== 'cut' && seen.end !== 'away') continue
      port++
      // Until the process is back.
      await sleep(100)
    }
  }

  /** Returns undefined when no gateway listens: the request was not sent. */
  async #send(port: number, key: LoadKey, isStream: boolean): Promise<SeenRequest | undefined> {
    const id = randomUUID()
    const unanswered = { id, key: key.id, nano: 0 }
    const answer = await this.#exchange({ port, key, id, isStream }).catch(toCode)
    if (answer === 'ECONNREFUSED') return undefined
    if (typeof answer === 'string') return { ...unanswered, end: 'cut', status: undefined }
    const { status, text } = answer
    if (status === 402) return { ...unanswered, end: 'refused', status }
    if (text.includes('LM-5003')) return { ...unanswered, end: 'away', status }
    if (status !== 200) return { ...unanswered, end: 'failed', status }
    if (isStream && !text.endsWith('data: [DONE]\n\n')) return { ...unanswered, end: 'cut', status }
    const count = (name: string) => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1])
    const nano = costOf(count('prompt_tokens'), count('completion_tokens'))
    return { ...unanswered, end: 'answered', status, nano }
  }

  /** Resolves with the whole answer; rejects when it is cut off. */
  #exchange({ port, key, id, isStream }: Exchange): Promise<{ status: number; text: string }> {
    const body = JSON.stringify({
      model: 'm',
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: 'Hi' }],
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    })
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          agent: this.#agent,
          method: 'POST',
          path: '/v1/chat/completions',
          headers: { authorization: `Bearer ${key.secret}`, 'x-request-id': id },
        },
        (response) => readWhole(response).then(resolve, reject),
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

function toCode(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name
}

interface Exchange {
  readonly port: number
  readonly key: LoadKey
  readonly id: string
  readonly isStream: boolean
}

async function readWhole(response: IncomingMessage): Promise<{ status: number; text: string }> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  return { status: response.statusCode ?? 0, text }
}
