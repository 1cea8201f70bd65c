import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../../../src/core/errors.ts'
import { clientRequestId, type RequestId } from '../../../src/core/ids.ts'
import { headerList } from '../../../src/core/ports.ts'
import type { Reply } from '../../../src/core/reply.ts'
import { errorReply, toResponseParts, withCors } from '../../../src/http/index.ts'
import type { Gateway } from '../../../src/index.ts'
import { closeGently } from './close-gently.ts'
import { extractPath } from './request-head.ts'

/** A request that the host answers itself, without the gateway. */
export interface ResponseTarget {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly gateway: Pick<Gateway, 'settings'>
}

const decoder = new TextDecoder()

/** Responds with an error in the gateway's format. */
export function respondWithError(unserved: ResponseTarget, error: GatewayError): void {
  const id = toRequestId(unserved.request.headers['x-request-id'])
  send(unserved, errorReply(error, id), id)
}

/** Responds to `OPTIONS *`, which asks about the server as a whole. */
export function respondToOptions(unserved: ResponseTarget): void {
  const reply = { status: 204, headers: allowHeader, body: null }
  send(unserved, reply, toRequestId(unserved.request.headers['x-request-id']))
}

/** The methods of all routes. */
export const allowHeader = headerList({ allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' })

/** The error for a request that did not arrive in time. */
export function requestTimeoutError(): GatewayError {
  return new GatewayError('LM-1001', 'the request took too long to arrive', { status: 408 })
}

/** Responds with an error on a socket that has no parsed request, and closes it. */
export function closeWithError(
  socket: Duplex,
  { gateway, error }: Pick<ResponseTarget, 'gateway'> & { readonly error: GatewayError },
): void {
  if (socket.destroyed || socket.writableEnded) return
  const id = toRequestId(undefined)
  // Path and origin are unknown, so browsers may read this only if every origin is allowed.
  const cross = { origins: gateway.settings.corsOrigins, origin: undefined, target: '' }
  const { status, headers, body } = toResponseParts(withCors(errorReply(error, id), cross), id)
  const lines = [...headers, 'connection', 'close'].map((text, at) =>
    at % 2 === 0 ? `${text}: ` : `${text}\r\n`,
  )
  // The body of an error reply is JSON as bytes.
  const text = decoder.decode(body as Uint8Array)
  closeGently(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}

function send({ request, response, gateway }: ResponseTarget, reply: Reply, id: RequestId): void {
  const { origin } = request.headers
  const cross = {
    origins: gateway.settings.corsOrigins,
    origin,
    target: extractPath(request.url ?? '') ?? '',
  }
  const { status, headers, body } = toResponseParts(withCors(reply, cross), id)
  response.writeHead(status, [...headers]).end(body)
}

function toRequestId(header: string | string[] | undefined): RequestId {
  const own = typeof header === 'string' ? clientRequestId(header) : undefined
  // A UUID contains only safe characters.
  return own ?? (randomUUID() as RequestId)
}
