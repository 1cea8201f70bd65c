import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { bodyAlreadyRead } from '../../../src/core/errors.ts'
import { ActiveRequests } from './active-requests.ts'
import { hostLimits } from './limits.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import { respondWithError } from './respond.ts'
import { type HostContext, type HostedGateway, ServedRequest } from './served-request.ts'

export interface ListenerOptions {
  /**
   * Path prefix to remove before routing, for example `/llm` on a server of `node:http`. Express removes
   * the mount path by itself.
   */
  readonly base?: string | undefined
}

/**
 * Returns the gateway as a listener for an existing server of `node:http` or an Express application.
 * Mount it before any body parser: the gateway forwards bodies byte for byte.
 *
 * @example
 * import { createServer } from 'node:http'
 * import { createGateway } from 'model-gateway'
 * import { nodePorts, requestListener } from 'model-gateway/node'
 *
 * const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
 * const gateway = await createGateway({ ...nodePorts(), config })
 * const server = createServer(requestListener(gateway, { base: '/llm' }))
 * server.listen(0, '127.0.0.1', () => {
 *   server.close()
 *   void gateway.close()
 * })
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
    // Node sends `100 Continue` by itself unless the server listens for `checkContinue`.
    expectsContinue: false,
  })
  return (request, response) => {
    if (!request.readableDidRead) return listen(request, response)
    const error = bodyAlreadyRead()
    gateway.log.write('error', error.message)
    respondWithError({ request, response, gateway }, error)
  }
}

/** Creates a listener that serves the requests of each connection one by one. */
export function createListener(context: HostContext) {
  const { maxWaiting } = context.limits
  return (request: IncomingMessage, response: ServerResponse): void => {
    const served = new ServedRequest(request, response, context)
    PipelineQueue.forSocket(request.socket, maxWaiting).enqueue(served)
  }
}
