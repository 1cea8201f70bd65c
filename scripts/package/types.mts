// What an embedding project writes. It is compiled with nothing but the library of the language.
import { createGateway, type Gateway, type GatewayOptions, type MetricsPort } from 'model-gateway'

declare const metrics: MetricsPort
declare const request: Parameters<Gateway['fetch']>[0]

const options: GatewayOptions = { config: '', metrics: () => metrics }
const gateway = await createGateway(options)
export const inFlight: number = gateway.inFlight
export const status: number = (await gateway.fetch(request, { client: '192.0.2.1' })).status

// @ts-expect-error a configuration is a text
createGateway({ config: 1 })
// @ts-expect-error a status is a number
status satisfies string
