import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { GatewayError } from '../../../src/core/errors.ts'
import { clientRequestId, type RequestId } from '../../../src/core/ids.ts'
import { namedHeaders } from '../../../src/core/ports.ts'
import { errorReply, partsOf } from '../../../src/edge.ts'

const decoder = new TextDecoder()

/** How long a client has to read an answer before its broken connection is closed. */
const lingerTime = 1_000

/** Answers a request that does not get to the gateway, in the form of the gateway's own errors. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: GatewayError,
): void {
  const { status, headers, body } = rendered(error, request.headers['x-request-id'])
  response.writeHead(status, headers).end(body)
}

/** Answers what has not become a request, and closes the connection. */
export function refuseSocket(socket: Duplex, error: GatewayError): void {
  if (socket.destroyed || socket.writableEnded) return
  const { status, headers, body } = rendered(error, undefined)
  const lines = Object.entries({ ...headers, connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${decoder.decode(body)}`)
  // Closing while bytes still come in would reset the connection, and the answer with it.
  setTimeout(() => socket.destroy(), lingerTime).unref()
}

function rendered(error: GatewayError, header: string | string[] | undefined) {
  const id = requestId(header)
  const reply = errorReply(error, id)
  // An error is a JSON answer, so its body is bytes.
  const body = reply.body as Uint8Array
  return {
    status: reply.status,
    headers: Object.fromEntries(namedHeaders(partsOf(reply, id))),
    body,
  }
}

function requestId(header: string | string[] | undefined): RequestId {
  const own = typeof header === 'string' ? clientRequestId(header) : undefined
  // A UUID is made of safe characters only.
  return own ?? (randomUUID() as RequestId)
}
