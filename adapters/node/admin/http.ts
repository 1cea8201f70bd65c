import { request as requestHttp } from 'node:http'
import type { Millis } from '../../../src/core/ids.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { readAdminAnswer } from './answer.ts'
import type { AdminMethod, OpenAdminClient } from './api.ts'

export interface AdminAddress {
  /** The address of the gateway, without a slash at its end. */
  readonly address: string
  readonly masterKey: string
  /** How long a connection, and the head of an answer, may take; 10 s by default. */
  readonly timeout?: Millis
  /** How long the head of an answer of the admin API may take instead; 0 for no limit. */
  readonly answerTimeout?: Millis | undefined
}

/**
 * Connects to the admin API of a running gateway; undefined when nothing listens at the address.
 * Rejects with a `CommandFailure` when something other than a gateway answers there: the master key
 * is sent only to a gateway.
 */
export async function connectAdmin({
  address,
  masterKey,
  timeout = 10_000,
  answerTimeout = timeout,
}: AdminAddress): Promise<OpenAdminClient | undefined> {
  const client: OpenAdminClient = {
    needsReload: false,
    note: undefined,
    async send(method, path, body) {
      const headers = { authorization: `Bearer ${masterKey}` }
      const sent = body && { body: JSON.stringify(body) }
      const limits = { timeout, answerTimeout }
      const answer = await ask({ address, path, method, headers, ...sent, ...limits })
      return readAdminAnswer({ ...answer, gateway: `the gateway at ${address}` })
    },
    // Each request has a connection of its own.
    close: async () => {},
  }
  try {
    if (await isGateway(address, timeout)) return client
    throw notGateway(address)
  } catch (error) {
    if (error instanceof NothingListens) return undefined
    throw error
  }
}

/** The front page names the gateway, and needs no key. */
async function isGateway(address: string, timeout: Millis): Promise<boolean> {
  const headers = { accept: 'application/json' }
  const limits = { timeout, answerTimeout: timeout }
  const { status, text } = await ask({ address, path: '/', method: 'GET', headers, ...limits })
  return status === 200 && text.includes('"name":"Model Gateway"')
}

interface Ask extends Limits {
  readonly address: string
  readonly path: string
  readonly method: AdminMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface Answer {
  readonly status: number
  readonly text: string
}

interface Limits {
  /** How long a connection, and each part of a body, may take. */
  readonly timeout: Millis
  /** How long the head of the answer may take; 0 for no limit. */
  readonly answerTimeout: Millis
}

async function ask({ address, path, ...call }: Ask): Promise<Answer> {
  try {
    return await send(new URL(address + path), call)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code.startsWith('HPE_')) throw notGateway(address)
    if (code === 'ECONNREFUSED') throw new NothingListens()
    throw new CommandFailure(1, `${address}: ${reasons[code] ?? code}`)
  }
}

type Call = Omit<Ask, 'address' | 'path'>

/** Sends a request without the client of the gateway, whose loading takes longer than most commands run. */
async function send(
  url: URL,
  { method, headers, body, timeout, answerTimeout }: Call,
): Promise<Answer> {
  const { request } =
    url.protocol === 'https:' ? await import('node:https') : { request: requestHttp }
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false })
    let timer: NodeJS.Timeout | undefined
    const expect = (code: string, limit: Millis) => {
      clearTimeout(timer)
      timer = limit > 0 ? setTimeout(end, limit, code) : undefined
    }
    const end = (code: string) => {
      // A broken answer has an error of its own.
      reject(Object.assign(new Error(code), { code }))
      sent.destroy()
    }
    expect('SLOW_CONNECTION', timeout)
    sent.once('socket', (socket) =>
      socket.once('connect', () => expect('SLOW_ANSWER', answerTimeout)),
    )
    sent.once('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
        expect('SLOW_ANSWER', timeout)
      })
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.once('error', reject)
      expect('SLOW_ANSWER', timeout)
    })
    sent.once('error', reject)
    sent.once('close', () => clearTimeout(timer))
    sent.end(body)
  })
}

function notGateway(address: string): CommandFailure {
  return new CommandFailure(1, `${address}: something other than a gateway answers there`)
}

class NothingListens extends Error {}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name cannot be resolved',
  SLOW_CONNECTION: 'the connection took too long',
  SLOW_ANSWER: 'the answer took too long',
  ECONNRESET: 'the connection was closed without an answer',
}
