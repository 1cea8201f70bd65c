/**
 * A fake vendor of embeddings in OpenAI's shape. Its answers are made in advance, because it shares
 * the machine with what is measured.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dimensions, items, warmUpItems } from './embeddings-size.ts'

process.once('disconnect', () => process.exit())
const vectors = Array.from({ length: items }, () =>
  Array.from({ length: dimensions }, () => Math.fround(Math.random() - 0.5).toPrecision(8)).join(),
)
const answers = new Map([items, warmUpItems].map((count) => [count, makeAnswer(count)]))
const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] }
  const answer = answers.get(input.length)
  response.setHeader('content-type', 'application/json')
  response.end(answer)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
// A TCP server that listens has an address with a port.
process.send?.((server.address() as AddressInfo).port)

function makeAnswer(count: number): Buffer {
  const data = vectors
    .slice(0, count)
    .map((vector, index) => `{"object":"embedding","index":${index},"embedding":[${vector}]}`)
  return Buffer.from(
    `{"object":"list","data":[${data.join()}],"usage":{"prompt_tokens":9,"total_tokens":9}}`,
  )
}
