import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../../../src/core/errors.ts'
import { clientRequestId, type RequestId } from '../../../src/core/ids.ts'
import type { Reply } from '../../../src/core/reply.ts'
import { errorReply, toResponseParts, withCors } from '../../../src/http/index.ts'
import type { Gateway } from '../../../src/index.ts'
import { extractPath } from './request-head.ts'

/** A request that does not get to the gateway: the host answers it. */
export interface ResponseTarget {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly gateway: Pick<Gateway, 'settings'>
}

const decoder = new TextDecoder()

/** How long a client has to read an answer before its broken connection is closed. */
const lingerTime = 1_000

/** Refuses a request in the form of the gateway's own errors. */
export function respondWithError(unserved: ResponseTarget, error: GatewayError): void {
  const id = toRequestId(unserved.request.headers['x-request-id'])
  send(unserved, errorReply(error, id), id)
}

/** Answers `OPTIONS *`, which asks for what the server as a whole can do. */
export function respondToOptions(unserved: ResponseTarget): void {
  const reply = { status: 204, headers: allowHeader, body: null }
  send(unserved, reply, toRequestId(unserved.request.headers['x-request-id']))
}

/** Every method that some route takes. */
export const allowHeader = ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE'] as const

export function requestTimeoutError(): GatewayError {
  return new GatewayError('LM-1001', 'the request took too long to arrive', { status: 408 })
}

/** Refuses what has not become a request, and closes the connection. */
export function closeWithError(
  socket: Duplex,
  { gateway, error }: Pick<ResponseTarget, 'gateway'> & { readonly error: GatewayError },
): void {
  if (socket.destroyed || socket.writableEnded) return
  const id = toRequestId(undefined)
  // Its path and its origin are not known, so this is for pages only where every origin is let in.
  const cross = { origins: gateway.settings.corsOrigins, origin: undefined, target: '' }
  const { status, headers, body } = toResponseParts(withCors(errorReply(error, id), cross), id)
  const lines = [...headers, 'connection', 'close'].map((text, at) =>
    at % 2 === 0 ? `${text}: ` : `${text}\r\n`,
  )
  // An error is a JSON answer, so its body is bytes.
  const text = decoder.decode(body as Uint8Array)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
  // Closing while bytes still come in would reset the connection, and the answer with it.
  setTimeout(() => socket.destroy(), lingerTime).unref()
}

function send({ request, response, gateway }: ResponseTarget, reply: Reply, id: RequestId): void {
  const { origin } = request.headers
  const cross = {
    origins: gateway.settings.corsOrigins,
    origin,
    target: extractPath(request.url ?? '') ?? '',
  }
  const { status, headers, body } = toResponseParts(withCors(reply, cross), id)
  // Node only reads the list; its declaration does not say so.
  response.writeHead(status, headers as string[]).end(body)
}

function toRequestId(header: string | string[] | undefined): RequestId {
  const own = typeof header === 'string' ? clientRequestId(header) : undefined
  // A UUID is made of safe characters only.
  return own ?? (randomUUID() as RequestId)
}
