import { Agent, errors } from 'undici'
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
  const agent = new Agent({ connect: { timeout }, headersTimeout: timeout, bodyTimeout: timeout })
  const client: OpenAdminClient = {
    needsReload: false,
    note: undefined,
    async send(method, path, body) {
      const headers = { authorization: `Bearer ${masterKey}` }
      const sent = body && { body: JSON.stringify(body) }
      const limit = { headersTimeout: answerTimeout }
      const answer = await ask(agent, { address, path, method, headers, ...sent, ...limit })
      return readAdminAnswer({ ...answer, gateway: `the gateway at ${address}` })
    },
    close: () => agent.destroy(),
  }
  try {
    if (await isGateway(agent, address)) return client
    throw notGateway(address)
  } catch (error) {
    await agent.destroy()
    if (error instanceof NothingListens) return undefined
    throw error
  }
}

/** The front page names the gateway, and needs no key. */
async function isGateway(agent: Agent, address: string): Promise<boolean> {
  const headers = { accept: 'application/json' }
  const { status, text } = await ask(agent, { address, path: '/', method: 'GET', headers })
  return status === 200 && text.includes('"name":"Model Gateway"')
}

interface Ask {
  readonly address: string
  readonly path: string
  readonly method: AdminMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly headersTimeout?: Millis
}

async function ask(agent: Agent, { address, path: route, body = '', ...rest }: Ask) {
  const { origin, pathname, search } = new URL(address + route)
  try {
    const path = pathname + search
    const answer = await agent.request({ ...rest, origin, path, body: body || null })
    return { status: answer.statusCode, text: await answer.body.text() }
  } catch (error) {
    if (error instanceof errors.HTTPParserError) throw notGateway(address)
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    if (code === 'ECONNREFUSED') throw new NothingListens()
    throw new CommandFailure(1, `${address}: ${reasons[code] ?? code}`)
  }
}

function notGateway(address: string): CommandFailure {
  return new CommandFailure(1, `${address}: something other than a gateway answers there`)
}

class NothingListens extends Error {}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name cannot be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_HEADERS_TIMEOUT: 'the answer took too long',
  UND_ERR_BODY_TIMEOUT: 'the answer took too long',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  ECONNRESET: 'the connection was closed without an answer',
}
