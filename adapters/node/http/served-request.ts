import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServerAdapter, type NodeRequest, sendNodeResponse } from '@whatwg-node/server'
import { internal } from '../../../src/core/errors.ts'
import type { FetchOptions, Gateway } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { PlainResponse } from '../ports/plain-response.ts'
import type { ActiveRequests } from './active-requests.ts'
import { AdapterResponse, type HostResponseParts } from './adapter-response.ts'
import { BodyDeadline } from './body-deadline.ts'
import { discardUnreadBody } from './discard-body.ts'
import type { HostLimits } from './limits.ts'
import type { PipelinedRequest } from './pipeline-queue.ts'
import { readRequestHead } from './request-head.ts'
import {
  closeWithError,
  requestTimeoutError,
  respondToOptions,
  respondWithError,
} from './respond.ts'
import { UnsentBytes } from './unsent-bytes.ts'

/** What a host needs of a gateway. */
export type HostedGateway = Pick<
  Gateway,
  'fetch' | 'settings' | 'log' | 'buffers' | 'drain' | 'close'
>

export interface HostContext {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly activeRequests: ActiveRequests
  /** A leading part of every path that is not for the gateway to see: `/llm`. */
  readonly base: string
  /** The clients keep their bodies back until they are told that somebody wants them. */
  readonly expectsContinue: boolean
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
  readonly #context: HostContext
  #done: (() => void) | undefined
  /** The client keeps its body back, and nobody has asked for it yet. */
  #awaitsContinue: boolean
  readonly #bodyDeadline: BodyDeadline
  #timer: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, hosting: HostContext) {
    this.#request = request
    this.#response = response
    this.#context = hosting
    this.#awaitsContinue = hosting.expectsContinue
    this.#bodyDeadline = new BodyDeadline(request, hosting.limits.requestTimeout)
  }

  start(done: () => void): void {
    this.#done = done
    this.#context.activeRequests.startRequest(this.#request.socket)
    this.#response.once('close', () => this.abandon())
    if (hasBody(this.#request)) this.#request.on('newListener', this.#onBodyRead)
    void this.#answer()
  }

  /** The answer is out, or the connection is gone. */
  abandon(): void {
    const done = this.#done
    if (!done) return
    this.#done = undefined
    clearTimeout(this.#timer)
    if (!this.#response.writableFinished) this.signal.abort()
    this.#context.activeRequests.endRequest(this.#request.socket)
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

  postponeTimeout(): boolean {
    const { remaining } = this.#bodyDeadline
    if (remaining <= 0) return false
    // Node looks once, so from here on the exchange does.
    this.#timer = setTimeout(() => {
      if (this.isRead || this.isAnswered || this.postponeTimeout()) return
      const { gateway } = this.#context
      closeWithError(this.#request.socket, { gateway, error: requestTimeoutError() })
    }, remaining).unref()
    return true
  }

  serve(request: Request): Promise<Response> {
    return this.#context.gateway.fetch(request, this)
  }

  get base(): string {
    return this.#context.base
  }

  async #answer(): Promise<void> {
    const [request, response] = [this.#request, this.#response]
    const { gateway, activeRequests } = this.#context
    try {
      const head = readRequestHead(request)
      if ('problem' in head || head.target === '*') {
        this.#discardBody()
        const unserved = { request, response, gateway }
        return 'problem' in head
          ? respondWithError(unserved, head.problem)
          : respondToOptions(unserved)
      }
      const incoming = this.#toNodeRequest(head.target)
      const answer = await handle(incoming, response, this)
      this.#discardBody()
      if (activeRequests.isDraining) response.setHeader('connection', 'close')
      await this.#send(answer, incoming)
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(answer: Response, incoming: NodeRequest): Promise<void> | void {
    const [response, { gateway, limits }] = [this.#response, this.#context]
    const backlog = new UnsentBytes(response, gateway.buffers)
    const outgoing = new AdapterResponse(extractParts(answer), backlog)
    // The client has left in the meantime.
    if (!this.#done || response.destroyed) return outgoing.body?.destroy()
    // `AdapterResponse` has every field that the adapter reads of a response.
    const shown = outgoing as unknown as Response
    const sent = sendNodeResponse(shown, response, incoming, true)
    backlog.update()
    // An answer that is sent needs no timeout.
    if (!response.writableEnded || response.writableLength > 0) {
      response.setTimeout(limits.stallTimeout, () => this.#closeIfStalled())
    }
    return sent
  }

  /** Whoever reads the body listens for it first. */
  readonly #onBodyRead = (event: string | symbol) => {
    if (event !== 'data' && event !== 'readable') return
    this.#request.off('newListener', this.#onBodyRead)
    this.#bodyDeadline.start()
    if (!this.#awaitsContinue) return
    this.#awaitsContinue = false
    this.#response.writeContinue()
  }

  /** The answer needs nothing more of the body. One that is kept back may come or not. */
  #discardBody(): void {
    this.#request.off('newListener', this.#onBodyRead)
    if (!this.#awaitsContinue) return discardUnreadBody(this.#request, this.#context.limits)
    this.#response.setHeader('connection', 'close')
  }

  /** A stream may well be silent, but what is there must be taken. */
  #closeIfStalled(): void {
    if (this.#response.writableLength > 0) this.#response.destroy()
  }

  /** The request as the adapter sees it: with the checked target and a constant host. */
  #toNodeRequest(target: string): NodeRequest {
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
    const { gateway } = this.#context
    gateway.log.write('error', 'an answer could not be sent', { error: kind, code })
    if (this.#response.headersSent) this.#response.destroy()
    else respondWithError({ request: this.#request, response: this.#response, gateway }, internal())
  }
}

/** Reads the parts of an answer, which only the host's own class keeps in that form. */
function extractParts(answer: Response): HostResponseParts {
  if (answer instanceof PlainResponse) return answer.parts
  const { status, headers, body } = answer
  return { status, headers: [...headers].flat(), body }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}
