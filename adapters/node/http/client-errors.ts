import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatewayError, invalid } from '../../../src/core/errors.ts'
import type { Gateway } from '../../../src/index.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import {
  allowHeader,
  closeWithError,
  type ResponseTarget,
  requestTimeoutError,
  respondWithError,
} from './respond.ts'

export interface ClientErrorOptions {
  readonly gateway: Pick<Gateway, 'settings'>
  /** Serves requests with `Expect: 100-continue`. */
  readonly listen: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * Responds in the gateway's error format where Node would respond by itself or not at all: to malformed
 * and slow requests, CONNECT, and `Expect` headers. None of these requests reaches the adapter.
 */
export function handleClientErrors(server: Server, options: ClientErrorOptions): void {
  const { gateway } = options
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const running = PipelineQueue.running(socket)
    // The parser also objects to the end of the bytes, which a client sends that leaves.
    if (error.code === 'ECONNRESET' || socket.readableEnded) return void socket.destroy()
    // An error response must not mix with one that has begun or belongs to an earlier request.
    if (running?.isRead) return PipelineQueue.endAfterResponses(socket)
    if (running?.isAnswered) return void socket.destroy()
    const isTooSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (isTooSlow && running?.postponeTimeout()) return
    closeWithError(socket, { gateway, error: toGatewayError(error.code) })
  })
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    const detail = { status: 405, headers: allowHeader }
    const error = new GatewayError('LM-1003', 'CONNECT is not supported', detail)
    closeWithError(socket, { gateway, error })
  })
  server.on('checkContinue', (request, response) => handleContinue(request, response, options))
  server.on('checkExpectation', (request, response) => {
    const error = new GatewayError('LM-1001', 'unsupported Expect header', { status: 417 })
    respondAndClose({ request, response, gateway }, error)
  })
}

/** Rejects a body that is too large before the client sends it. */
function handleContinue(
  request: IncomingMessage,
  response: ServerResponse,
  { gateway, listen }: ClientErrorOptions,
): void {
  const limit = gateway.settings.bodyLimit
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    const error = new GatewayError(
      'LM-1002',
      `the request body is over the limit of ${limit} bytes`,
    )
    return respondAndClose({ request, response, gateway }, error)
  }
  listen(request, response)
}

/** Closes the connection after the response: the client may or may not still send its body. */
function respondAndClose(unserved: ResponseTarget, error: GatewayError): void {
  unserved.response.setHeader('connection', 'close')
  respondWithError(unserved, error)
}

function toGatewayError(code: string | undefined): GatewayError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeoutError()
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('LM-1001', 'the request headers are too large', { status: 431 })
    default:
      return invalid('the request is not valid HTTP')
  }
}
