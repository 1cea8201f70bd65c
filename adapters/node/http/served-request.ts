import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServerAdapter, type NodeRequest, sendNodeResponse } from '@whatwg-node/server'
import { internal } from '../../../src/core/errors.ts'
import type { FetchOptions, Gateway } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { PlainResponse } from '../ports/plain-response.ts'
import type { ActiveRequests } from './active-requests.ts'
import { Backlog } from './backlog.ts'
import { BodyTime } from './body-time.ts'
import { discardRest } from './discard.ts'
import type { HostLimits } from './limits.ts'
import { type AnswerParts, Outgoing } from './outgoing.ts'
import type { PipelinedRequest } from './pipeline-queue.ts'
import { answerOptions, refuse, refuseSocket, tooSlow } from './refusal.ts'
import { readHead } from './request-head.ts'

/** What a host needs of a gateway. */
export type HostedGateway = Pick<
  Gateway,
  'fetch' | 'settings' | 'log' | 'buffers' | 'drain' | 'close'
>

export interface Hosting {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly traffic: ActiveRequests
  /** A leading part of every path that is not for the gateway to see: `/llm`. */
  readonly base: string
  /** The clients keep their bodies back until they are told that somebody wants them. */
  readonly waitsForGoAhead: boolean
}

/** Of all addresses: the Host header is the client's own text, and must not become part of one. */
const origin = { host: 'gateway' }

// The adapter's own listener answers an exception with its stack trace, so it stays unused.
const { handleNodeRequestAndResponse: handle } = createServerAdapter<ServedRequest>(
  (request, exchange) => exchange.serve(request),
)

/**
 * One request of a client, from its head to the last byte of its answer. It is also the context
 * that the gateway gets: the signal aborts when the client has left.
 *
 * The adapter makes the `Request` and sends the answer. The other files of this folder add what the
 * adapter lacks: it accepts any host and path, starts all pipelined requests at once, waits for slow
 * readers and drains unread bodies without a limit, and does not bound connections.
 */
export class ServedRequest implements PipelinedRequest, FetchOptions {
  readonly signal = new LightAbortController()
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

  serve(request: Request): Promise<Response> {
    return this.#hosting.gateway.fetch(request, this)
  }

  get base(): string {
    return this.#hosting.base
  }

  async #answer(): Promise<void> {
    const [request, response] = [this.#request, this.#response]
    const { gateway, traffic } = this.#hosting
    try {
      const head = readHead(request)
      if ('problem' in head || head.target === '*') {
        this.#disposeOfBody()
        const unserved = { request, response, gateway }
        return 'problem' in head ? refuse(unserved, head.problem) : answerOptions(unserved)
      }
      const incoming = this.#incoming(head.target)
      const answer = await handle(incoming, response, this)
      this.#disposeOfBody()
      if (traffic.isDraining) response.setHeader('connection', 'close')
      await this.#send(answer, incoming)
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(answer: Response, incoming: NodeRequest): Promise<void> | void {
    const [response, { gateway, limits }] = [this.#response, this.#hosting]
    const backlog = new Backlog(response, gateway.buffers)
    const outgoing = new Outgoing(extractParts(answer), backlog)
    // The client has left in the meantime.
    if (!this.#done || response.destroyed) return outgoing.body?.destroy()
    // `Outgoing` has every field that the adapter reads of a response.
    const shown = outgoing as unknown as Response
    const sent = sendNodeResponse(shown, response, incoming, true)
    backlog.count()
    // An answer that is sent needs no timeout.
    if (!response.writableEnded || response.writableLength > 0) {
      response.setTimeout(limits.stallTimeout, () => this.#closeIfStalled())
    }
    return sent
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

  /** The request as the adapter sees it: with the checked target and a constant host. */
  #incoming(target: string): NodeRequest {
    const { method, headers } = this.#request
    return {
      method,
      headers,
      body: this.#request,
      raw: { method: 'GET', url: target, headers: origin } as IncomingMessage,
    }
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

/** Reads the parts of an answer, which only the host's own class keeps in that form. */
function extractParts(answer: Response): AnswerParts {
  if (answer instanceof PlainResponse) return answer.parts
  const { status, headers, body } = answer
  return { status, headers: [...headers].flat(), body }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}
