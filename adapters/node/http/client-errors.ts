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
  /** Takes the requests of clients that wait with the body until they are asked for it. */
  readonly listen: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * Answers everything that Node would answer by itself, or not at all, in the gateway's form. The
 * adapter sees none of it.
 */
export function handleClientErrors(server: Server, options: ClientErrorOptions): void {
  const { gateway } = options
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const running = PipelineQueue.running(socket)
    // An answer that has begun, or that belongs to a request before this one, must not be mixed up.
    const isBusy = running && (running.isAnswered || running.isRead)
    const isTooSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (isTooSlow && running && !isBusy && running.postponeTimeout()) return
    if (error.code === 'ECONNRESET' || isBusy) socket.destroy()
    else closeWithError(socket, { gateway, error: toGatewayError(error.code) })
  })
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    const detail = { status: 405, headers: allowHeader }
    const error = new GatewayError('LM-1003', 'the gateway is no proxy', detail)
    closeWithError(socket, { gateway, error })
  })
  server.on('checkContinue', (request, response) => handleContinue(request, response, options))
  server.on('checkExpectation', (request, response) => {
    const error = new GatewayError('LM-1001', 'unknown expectation', { status: 417 })
    respondAndClose({ request, response, gateway }, error)
  })
}

/** A client that asks before it sends its body gets the refusal at once when that is too long. */
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

/** Whether the client still sends its body is not known, so the connection cannot go on. */
function respondAndClose(unserved: ResponseTarget, error: GatewayError): void {
  unserved.response.setHeader('connection', 'close')
  respondWithError(unserved, error)
}

function toGatewayError(code: string | undefined): GatewayError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeoutError()
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('LM-1001', 'the request headers are too long', { status: 431 })
    default:
      return invalid('the request is not valid HTTP')
  }
}
