/**
 * The smallest possible Node proxy, the yardstick for the gateway: bare `node:http` in front of an
 * undici `Pool`. It parses the request body and the answer as JSON, because no gateway can know
 * model and usage without that, and forwards the bytes unchanged. For a stream it does the same frame
 * scan as the gateway: split at blank lines, `JSON.parse` every data payload, forward the original
 * bytes. Nothing else: no routing, checks, timeouts, log, metrics or error handling.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'

const { values } = parseArgs({
  options: { port: { type: 'string' }, upstream: { type: 'string' } },
})

const pool = new Pool(`http://127.0.0.1:${values.upstream}`)

process.once('disconnect', () => process.exit())

createServer((request, response) => {
  void forward(request, response)
}).listen(Number(values.port), '127.0.0.1')

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await collect(request)
  JSON.parse(body.toString())
  const answer = await pool.request({
    method: 'POST',
    path: request.url ?? '/',
    headers: {
      'content-type': 'application/json',
      authorization: request.headers.authorization ?? '',
    },
    body,
  })
  const type = String(answer.headers['content-type'])
  if (type.startsWith('text/event-stream')) {
    response.writeHead(answer.statusCode, { 'content-type': type })
    return stream(answer.body, response)
  }
  const bytes = await collect(answer.body)
  JSON.parse(bytes.toString())
  response.writeHead(answer.statusCode, { 'content-type': type, 'content-length': bytes.length })
  response.end(bytes)
}

function collect(source: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    source.on('data', (piece: Buffer) => pieces.push(piece))
    source.on('end', () =>
      resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)),
    )
    source.on('error', reject)
  })
}

function stream(source: Readable, response: ServerResponse): void {
  const scan = frameScan()
  source.on('data', (bytes: Buffer) => {
    scan(bytes)
    if (response.write(bytes)) return
    source.pause()
    response.once('drain', () => source.resume())
  })
  source.on('end', () => response.end())
}

function frameScan(): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes
    let start = 0
    for (let end = all.indexOf('\n\n'); end >= 0; end = all.indexOf('\n\n', start)) {
      const data = all.toString('utf8', start + 'data: '.length, end)
      if (data !== '[DONE]') JSON.parse(data)
      start = end + 2
    }
    rest = all.subarray(start)
  }
}
