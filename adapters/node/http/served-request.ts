import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServerAdapter, type NodeRequest } from '@whatwg-node/server'
import { internal } from '../../../src/core/errors.ts'
import { asHeaderList } from '../../../src/core/ports.ts'
import type { FetchOptions, Gateway } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { PlainResponse } from '../ports/plain-response.ts'
import { runAtEndOfTurn } from '../process/end-of-turn.ts'
import type { ActiveRequests } from './active-requests.ts'
import { AdapterHeaders } from './adapter-headers.ts'
import { AdapterRequest } from './adapter-request.ts'
import { AdapterResponse, type HostResponseParts } from './adapter-response.ts'
import { BodyDeadline } from './body-deadline.ts'
import { createBodyCollector } from './body-garbage.ts'
import { discardUnreadBody } from './discard-body.ts'
import type { HostLimits } from './limits.ts'
import { type PipelinedRequest, PipelineQueue } from './pipeline-queue.ts'
import { checkRequestHead } from './request-head.ts'
import {
  closeWithError,
  requestTimeoutError,
  respondToOptions,
  respondWithError,
} from './respond.ts'
import { UnsentBytes } from './unsent-bytes.ts'
import { ownSignal, sendResponse } from './whatwg-internals.ts'

/** The members of a gateway that a host uses. */
export type HostedGateway = Pick<
  Gateway,
  'fetch' | 'settings' | 'log' | 'buffers' | 'startDraining' | 'drain' | 'close'
>

export interface HostContext {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly activeRequests: ActiveRequests
  /** Path prefix to remove before routing, for example `/llm`. */
  readonly base: string
  /** The requests came with `Expect: 100-continue`: a body arrives only after `writeContinue`. */
  readonly expectsContinue: boolean
}

const collectBody = createBodyCollector()

/** The constant host of all request URLs. The client's Host header must not become part of a URL. */
const urlHost = { host: 'gateway' }

// The adapter's own listener would respond to an exception with its stack trace, so it is not used.
const { handleNodeRequestAndResponse: handle } = createServerAdapter<ServedRequest>(
  (request, served) => served.serve(request),
  // The default for its own classes. To find it, the adapter would read those of Node, which then loads them.
  { ...ownSignal, fetchAPI: { Request: AdapterRequest } },
)

/**
 * One client request, from its head to the last byte of the response. It is also the `FetchOptions` of
 * the gateway: the signal aborts when the client leaves.
 *
 * The adapter makes the `Request` and sends the response. The other files of this folder add what the
 * adapter lacks: it accepts any host and path, starts all pipelined requests at once, waits for slow
 * readers and drains unread bodies without a limit, and does not limit connections.
 */
export class ServedRequest implements PipelinedRequest, FetchOptions {
  readonly signal = new LightAbortController()
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #context: HostContext
  #done: (() => void) | undefined
  /** The client waits for `100 Continue` before it sends its body. */
  #awaitsContinue: boolean
  readonly #bodyDeadline: BodyDeadline
  #timer: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, context: HostContext) {
    this.#request = request
    this.#response = response
    this.#context = context
    this.#awaitsContinue = context.expectsContinue
    this.#bodyDeadline = new BodyDeadline(request, context.limits.requestTimeout)
  }

  start(done: () => void): void {
    this.#done = done
    this.#context.activeRequests.startRequest(this.#request.socket)
    this.#response.once('close', () => this.abandon())
    runAtEndOfTurn(() => void this.#answer(), this.#context.activeRequests.running)
  }

  /** Ends the request: the response is sent, or the connection has closed. */
  abandon(): void {
    const done = this.#done
    if (!done) return
    this.#done = undefined
    clearTimeout(this.#timer)
    if (!this.#response.writableFinished) this.signal.abort()
    const { socket } = this.#request
    this.#context.activeRequests.endRequest(socket)
    done()
    if (this.#hasUpgrade && !PipelineQueue.running(socket)) {
      socket.setTimeout(this.#context.limits.upgradeKeepAliveTimeout)
    }
    collectBody(Number(this.#request.headers['content-length'] ?? 0))
  }

  /** The remote address of the connection; behind a reverse proxy, the address of the proxy. */
  get client(): string | undefined {
    // A dual-stack socket reports IPv4 addresses as IPv6.
    return this.#request.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
  }

  get isRead(): boolean {
    return this.#request.complete
  }

  get isAnswered(): boolean {
    return this.#response.headersSent
  }

  announceClose(): void {
    if (!this.isAnswered) this.#response.shouldKeepAlive = false
  }

  postponeTimeout(): boolean {
    const { remaining } = this.#bodyDeadline
    if (remaining <= 0) return false
    // Node checks its timeout only once, so this timer takes over.
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

  /** The client offers another protocol, such as HTTP/2 without TLS. The gateway stays with HTTP/1.1. */
  get #hasUpgrade(): boolean {
    return this.#request.headers.upgrade !== undefined
  }

  get base(): string {
    return this.#context.base
  }

  async #answer(): Promise<void> {
    const [request, response] = [this.#request, this.#response]
    const { gateway, activeRequests, limits } = this.#context
    try {
      const head = checkRequestHead(request)
      if ('problem' in head || head.target === '*') {
        this.#discardBody()
        const unserved = { request, response, gateway }
        return 'problem' in head
          ? respondWithError(unserved, head.problem)
          : respondToOptions(unserved)
      }
      if (!request.complete) request.on('newListener', this.#onBodyRead)
      const incoming = this.#toNodeRequest(head.target)
      const answer = await handle(incoming, response, this)
      this.#discardBody()
      if (activeRequests.isDraining) response.setHeader('connection', 'close')
      if (this.#hasUpgrade) response.setHeader('keep-alive', formatKeepAlive(limits))
      const sending = this.#send(answer, incoming)
      if (sending) await sending
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(answer: Response, incoming: NodeRequest): Promise<void> | void {
    const [response, { gateway, limits }] = [this.#response, this.#context]
    const unsent = new UnsentBytes(response, gateway.buffers)
    const outgoing = new AdapterResponse(extractParts(answer), unsent)
    // The client has left in the meantime.
    if (!this.#done || response.destroyed) return outgoing.body?.destroy()
    const sent = sendResponse(outgoing, { outgoing: response, incoming })
    unsent.update()
    // A response that is already sent needs no timeout.
    if (!response.writableEnded || response.writableLength > 0) {
      response.setTimeout(limits.stallTimeout, () => this.#closeIfStalled())
    }
    return sent
  }

  /** Runs when a listener for the body is added: the gateway starts to read. */
  readonly #onBodyRead = (event: string | symbol) => {
    if (event !== 'data' && event !== 'readable') return
    this.#request.off('newListener', this.#onBodyRead)
    this.#bodyDeadline.start()
    if (!this.#awaitsContinue) return
    this.#awaitsContinue = false
    this.#response.writeContinue()
  }

  /** Discards the rest of the body. A body that awaits `100 Continue` may or may not still come. */
  #discardBody(): void {
    this.#request.off('newListener', this.#onBodyRead)
    if (!this.#awaitsContinue || this.isRead) {
      return discardUnreadBody(this.#request, this.#context.limits)
    }
    this.#response.setHeader('connection', 'close')
  }

  /** Cuts off a client that reads nothing. A stream without new bytes is not stalled. */
  #closeIfStalled(): void {
    if (this.#response.writableLength > 0) this.#response.destroy()
  }

  /** Returns the request for the adapter, with the checked target and a constant host. */
  #toNodeRequest(target: string): NodeRequest {
    return {
      method: this.#request.method,
      headers: new AdapterHeaders(this.#request.headers),
      body: this.#request,
      raw: { method: 'GET', url: target, headers: urlHost } as IncomingMessage,
    }
  }

  /** Handles an invalid response header or an error of the host itself; the gateway does not throw. */
  #fail(error: unknown): void {
    const kind = error instanceof Error ? error.name : typeof error
    const { code } = error as { code?: unknown }
    const { gateway } = this.#context
    gateway.log.write('error', 'failed to send a response', { error: kind, code })
    if (this.#response.headersSent) this.#response.destroy()
    else respondWithError({ request: this.#request, response: this.#response, gateway }, internal())
  }
}

function formatKeepAlive({ upgradeKeepAliveTimeout }: HostLimits): string {
  return `timeout=${Math.floor(upgradeKeepAliveTimeout / 1_000)}`
}

/** Returns the parts of a response. `PlainResponse` keeps them; other classes are taken apart. */
function extractParts(answer: Response): HostResponseParts {
  if (answer instanceof PlainResponse) return answer.parts
  const { status, headers, body } = answer
  return { status, headers: asHeaderList([...headers].flat()), body }
}
