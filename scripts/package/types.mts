// Code of an embedding project, compiled with only the language's own library.
import { createGateway, type Gateway, type GatewayOptions, type MetricsPort } from 'model-gateway'

declare const metrics: MetricsPort
declare const request: Parameters<Gateway['fetch']>[0]

const options: GatewayOptions = { config: '', metrics: () => metrics }
const gateway = await createGateway(options)
export const inFlight: number = gateway.inFlight
export const status: number = (await gateway.fetch(request, { client: '192.0.2.1' })).status

// @ts-expect-error a configuration is a string
createGateway({ config: 1 })
// @ts-expect-error a status is a number
status satisfies string
