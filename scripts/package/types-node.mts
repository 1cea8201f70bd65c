// Code of a project on Node, compiled with the types of Node.
import { createServer } from 'node:http'
import { createGateway } from 'model-gateway'
import { nodePorts, requestListener, serve } from 'model-gateway/node'

const gateway = await createGateway({ ...nodePorts(), config: '' })
const response: Response = await gateway.fetch(new Request('http://gateway/health'))
createServer(requestListener(gateway)).listen()
export const address: string = (await serve(gateway)).address

// @ts-expect-error a status is a number
response.status satisfies string
