import type { IncomingMessage, ServerResponse } from 'node:http'
import { Request } from '@whatwg-node/fetch'
import { sendNodeResponse } from '@whatwg-node/server'
import { internal } from '../../../src/core/errors.ts'
import { isWhole } from '../../../src/core/ports.ts'
import type { Gateway, RequestContext } from '../../../src/index.ts'
import { Cancel } from '../../../src/wire/cancel.ts'
import { PlainResponse } from '../ports/plain-response.ts'
import { Outlet } from '../streams/index.ts'
import { Backlog } from './backlog.ts'
import { BodyTime } from './body-time.ts'
import { discardRest } from './discard.ts'
import type { HostLimits } from './limits.ts'
import { pour } from './pour.ts'
import { answerOptions, refuse, refuseSocket, tooSlow } from './refusal.ts'
import { readHead } from './request-head.ts'
import type { Traffic } from './traffic.ts'
import type { Turn } from './turns.ts'

/** What a host needs of a gateway. */
export type HostedGateway = Pick<
  Gateway,
  'fetch' | 'settings' | 'log' | 'buffers' | 'drain' | 'close'
>

export interface Hosting {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly traffic: Traffic
  /** A leading part of every path that is not for the gateway to see: `/llm`. */
  readonly base: string
  /** The clients keep their bodies back until they are told that somebody wants them. */
  readonly waitsForGoAhead: boolean
}

/** Of all addresses: the Host header is the client's own text, and must not become part of one. */
const origin = 'http://gateway'

/**
 * One request of a client, from its head to the last byte of its answer. It is also the context
 * that the gateway gets: the signal aborts when the client has left.
 *
 * Requests are made with the adapter's class, but its listener
 * is left out: that one answers a failure with its stack, and takes path, query and body from what
 * Express has made of them.
 */
export class ClientExchange implements Turn, RequestContext {
  readonly signal = new Cancel()
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #hosting: Hosting
  #done: (() => void) | undefined
  /** The client keeps its body back, and nobody has asked for it yet. */
  #holdsBody: boolean
  readonly #bodyTime: BodyTime
  #timer: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, hosting: Hosting) {
    this.#request = request
    this.#response = response
    this.#hosting = hosting
    this.#holdsBody = hosting.waitsForGoAhead
    this.#bodyTime = new BodyTime(request, hosting.limits.requestTimeout)
  }

  start(done: () => void): void {
    this.#done = done
    this.#hosting.traffic.started(this.#request.socket)
    this.#response.once('close', () => this.abandon())
    if (hasBody(this.#request)) this.#request.on('newListener', this.#wanted)
    void this.#answer()
  }

  /** The answer is out, or the connection is gone. */
  abandon(): void {
    const done = this.#done
    if (!done) return
    this.#done = undefined
    clearTimeout(this.#timer)
    if (!this.#response.writableFinished) this.signal.abort()
    this.#hosting.traffic.ended(this.#request.socket)
    done()
  }

  /** The address that the connection came from: that of a proxy, where there is one. */
  get client(): string | undefined {
    // A socket of both families writes IPv4 addresses in the form of IPv6.
    return this.#request.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
  }

  get isRead(): boolean {
    return this.#request.complete
  }

  get isAnswered(): boolean {
    return this.#response.headersSent
  }

  isExcused(): boolean {
    const { left } = this.#bodyTime
    if (left <= 0) return false
    // Node looks once, so from here on the exchange does.
    this.#timer = setTimeout(() => {
      if (this.isRead || this.isAnswered || this.isExcused()) return
      const { gateway } = this.#hosting
      refuseSocket(this.#request.socket, { gateway, error: tooSlow() })
    }, left).unref()
    return true
  }

  async #answer(): Promise<void> {
    const [request, response] = [this.#request, this.#response]
    const { gateway, limits, traffic } = this.#hosting
    try {
      const head = readHead(request)
      if ('problem' in head || head.target === '*') {
        this.#disposeOfBody()
        const unserved = { request, response, gateway }
        return 'problem' in head ? refuse(unserved, head.problem) : answerOptions(unserved)
      }
      const answer = await gateway.fetch(this.#fetchRequest(head.target), this)
      this.#disposeOfBody()
      if (traffic.isDraining) response.setHeader('connection', 'close')
      const backlog = new Backlog(response, gateway.buffers)
      const sent = send(answer, { request, response, backlog })
      // Afterwards: for streams the adapter switches the timeout off. What is out needs none.
      if (!response.writableEnded || response.writableLength > 0) {
        response.setTimeout(limits.stallTimeout, () => this.#closeIfStalled())
      }
      await sent
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Whoever reads the body listens for it first. */
  readonly #wanted = (event: string | symbol) => {
    if (event !== 'data' && event !== 'readable') return
    this.#request.off('newListener', this.#wanted)
    this.#bodyTime.ask()
    if (!this.#holdsBody) return
    this.#holdsBody = false
    this.#response.writeContinue()
  }

  /** The answer needs nothing more of the body. One that is kept back may come or not. */
  #disposeOfBody(): void {
    this.#request.off('newListener', this.#wanted)
    if (!this.#holdsBody) return discardRest(this.#request, this.#hosting.limits)
    this.#response.setHeader('connection', 'close')
  }

  /** A stream may well be silent, but what is there must be taken. */
  #closeIfStalled(): void {
    if (this.#response.writableLength > 0) this.#response.destroy()
  }

  #fetchRequest(target: string): Request {
    const { method = 'GET', headers } = this.#request
    const { base } = this.#hosting
    const path = base !== '' && isBelow(base, target) ? target.slice(base.length) : target
    const address = `${origin}${path.startsWith('/') ? '' : '/'}${path}`
    // The adapter takes Node's headers and message as they are, which its declaration leaves out.
    const init: unknown =
      method === 'GET' || method === 'HEAD'
        ? { method, headers }
        : { method, headers, body: this.#request }
    return new Request(address, init as RequestInit)
  }

  /** The gateway never fails; a header that is not legal, or a host's own mistake, ends up here. */
  #fail(error: unknown): void {
    const kind = error instanceof Error ? error.name : typeof error
    const { code } = error as { code?: unknown }
    const { gateway } = this.#hosting
    gateway.log.write('error', 'an answer could not be sent', { error: kind, code })
    if (this.#response.headersSent) this.#response.destroy()
    else refuse({ request: this.#request, response: this.#response, gateway }, internal())
  }
}

interface Addressee {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly backlog: Backlog
}

/** Answers of the host's own classes go out from their parts, those of other makers through the adapter. */
function send(
  answer: Response | PlainResponse,
  { request, response, backlog }: Addressee,
): Promise<void> | void {
  if (!(answer instanceof PlainResponse)) return sendNodeResponse(answer, response, request, true)
  const { status, headers, body } = answer.parts
  if (body !== null && !isWhole(body)) {
    if (!(body instanceof Outlet)) return sendNodeResponse(answer.full, response, request, true)
    // Node only reads the list; its declaration does not say so.
    response.writeHead(status, headers as string[])
    return pour(body, response, backlog)
  }
  if (response.destroyed) return
  // Node itself would choose the chunked form for a length that nobody has told.
  const isTold = body === null || headers.includes('content-length')
  const told = isTold ? headers : [...headers, 'content-length', `${Buffer.byteLength(body)}`]
  // Text is ASCII, and in this encoding nobody has to count its bytes.
  response.writeHead(status, told as string[]).end(body, 'latin1')
  backlog.count()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function isBelow(base: string, target: string): boolean {
  const next = target[base.length]
  return target.startsWith(base) && (next === undefined || next === '/' || next === '?')
}
