import { Agent, type IncomingMessage, request } from 'node:http'
import type { CancelSignal } from '../../../src/index.ts'
import { StatusError } from './token-failure.ts'

export interface DirectCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: CancelSignal
}

export interface DirectAnswer {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const answerTimeout = 3_000
const maxAnswerCharacters = 64 * 1024

/**
 * Gets a value from the metadata service of the machine, without a proxy: the agent is its own, because the
 * shared one may be set to use one. Rejects for every status but 200.
 */
export function getDirectly({ url, headers, signal }: DirectCall): Promise<DirectAnswer> {
  const agent = new Agent({ keepAlive: false })
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, headers, timeout: answerTimeout }, (answer) =>
      readAnswer(answer).then(resolve, reject),
    )
    const abort = () => call.destroy(new StatusError('aborted'))
    signal.addEventListener('abort', abort)
    call.once('timeout', () => call.destroy(new StatusError('timeout')))
    call.once('error', reject)
    call.once('close', () => signal.removeEventListener('abort', abort))
    call.end()
  })
}

async function readAnswer(answer: IncomingMessage): Promise<DirectAnswer> {
  if (answer.statusCode !== 200) {
    answer.destroy()
    throw new StatusError('status', answer.statusCode)
  }
  let body = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    body += chunk
    if (body.length > maxAnswerCharacters) throw new StatusError('size')
  }
  return { headers: answer.headers, body }
}
