import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { bodyAlreadyRead } from '../../../src/core/errors.ts'
import { ActiveRequests } from './active-requests.ts'
import { hostLimits } from './limits.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import { respondWithError } from './respond.ts'
import { type HostContext, type HostedGateway, ServedRequest } from './served-request.ts'

export interface ListenerOptions {
  /**
   * A leading part of every path that the gateway does not see: `/llm` under a server of Node's
   * own. Express cuts the path that a listener is mounted on by itself.
   */
  readonly base?: string | undefined
}

/**
 * The gateway as a listener for a server that is there already: one of `node:http`, or an Express
 * application. It must come ahead of body parsers, since the gateway forwards bodies byte for byte.
 */
export function requestListener(
  gateway: HostedGateway,
  { base = '' }: ListenerOptions = {},
): RequestListener {
  const listen = createListener({
    gateway,
    base,
    limits: hostLimits,
    activeRequests: new ActiveRequests(),
    // Without a listener of its own for these clients, a server tells them to go on by itself.
    expectsContinue: false,
  })
  return (request, response) => {
    if (!request.readableDidRead) return listen(request, response)
    const error = bodyAlreadyRead()
    gateway.log.write('error', error.message)
    respondWithError({ request, response, gateway }, error)
  }
}

/** Takes the requests of every connection in turn. */
export function createListener(hosting: HostContext) {
  const { maxWaiting } = hosting.limits
  return (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = new ServedRequest(request, response, hosting)
    PipelineQueue.forSocket(request.socket, maxWaiting).enqueue(exchange)
  }
}
