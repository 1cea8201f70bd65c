import type { Environment } from '../../src/index.ts'
import { logLevel, nodeLog, wantsColors } from './log.ts'
import { type NodePorts, openNodePorts } from './node-ports.ts'

export type { HostLimits } from './http/limits.ts'
export { type ListenerOptions, requestListener } from './http/listener.ts'
export type { HostedGateway } from './http/served-request.ts'
export type { NodePorts } from './node-ports.ts'
export { type ServeOptions, type Serving, serve } from './serve.ts'
export type { ShutdownTimes } from './shutdown.ts'

/**
 * Returns the ports of Node.js for `createGateway`: the system clock, upstream calls over pooled
 * connections, a log on standard output, and the environment of the process. Throws when a proxy
 * variable is not a URL.
 *
 * @example
 * import { createGateway } from 'model-gateway'
 * import { nodePorts } from 'model-gateway/node'
 *
 * const ports = nodePorts()
 * const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
 * const gateway = await createGateway({ ...ports, config })
 * const response = await gateway.fetch(new Request('http://gateway/v1/models'))
 * console.log(response.status) // 200
 * await gateway.close()
 * await ports.close()
 */
export function nodePorts(env: Environment = process.env): NodePorts {
  const level = logLevel(env) ?? 'info'
  return openNodePorts(env, (format) => nodeLog({ format, level, colors: wantsColors(env) }))
}
