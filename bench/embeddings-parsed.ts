/**
 * The plain way to forward embeddings, for comparison: `JSON.parse` of the upstream's floats, and
 * `JSON.stringify` of the response, without checks, counts or limits.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { request } from 'undici'
import { tellVitals } from './vitals.ts'

const { values: options } = parseArgs({ options: { upstream: { type: 'string' } } })

process.once('disconnect', () => process.exit())
const server = createServer(async (incoming, response) => {
  const answer = await request(`http://127.0.0.1:${options.upstream}/v1/embeddings`, {
    method: 'POST',
    body: incoming,
  })
  // The upstream's answer.
  const embeddings = (await answer.body.json()) as object
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ...embeddings, model: 'm' }))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
tellVitals()
// A TCP server that listens has an address with a port.
process.send?.((server.address() as AddressInfo).port)
