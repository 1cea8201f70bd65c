/**
 * A fake vendor in OpenAI's shape. `POST /v1/chat/completions` answers a small JSON document, or,
 * when the body says `"stream":true`, 100 chunks, a usage chunk and `[DONE]`. Like a vendor under
 * load it writes frames in small groups (`--group`); for the model `bench-paced` every frame is a
 * write of its own, `--gap` milliseconds after the one before.
 * Bare sockets and answers made in advance, because it shares the machine with what is measured.
 */
import { createServer, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { HttpReader } from './http-reader.ts'
import { pacedModel, streamedChunks } from './scenarios.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    group: { type: 'string', default: '4' },
    gap: { type: 'string', default: '1' },
  },
})

const gap = Number(values.gap)
const identity = { id: 'chatcmpl-bench', created: 1_764_000_000, model: 'bench' }
const usage = { prompt_tokens: 21, completion_tokens: 34, total_tokens: 55 }
const text =
  'A gateway stands between many clients and many model providers, and should cost little.'

const answer = jsonAnswer()
const grouped = streamWrites(Math.max(1, Number(values.group)))
const paced = streamWrites(1)

process.once('disconnect', () => process.exit())

createServer((socket) => {
  const body: Buffer[] = []
  const reader = new HttpReader((piece) => body.push(piece))
  socket.setNoDelay()
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    if (reader.push(bytes)) reply(socket, reader.head, Buffer.concat(body.splice(0)))
  })
}).listen(Number(values.port), '127.0.0.1')

function reply(socket: Socket, head: string, body: Buffer): void {
  if (!head.startsWith('POST /v1/chat/completions ')) socket.write(notFound)
  else if (!body.includes('"stream":true')) socket.write(answer)
  else if (body.includes(pacedModel)) writePaced(socket, 0)
  else writeGrouped(socket, 0)
}

/** One group a turn of the event loop, so that the streams of all connections interleave. */
function writeGrouped(socket: Socket, index: number): void {
  const bytes = grouped[index]
  if (!bytes || socket.destroyed) return
  socket.write(bytes)
  setImmediate(writeGrouped, socket, index + 1)
}

function writePaced(socket: Socket, index: number): void {
  const bytes = paced[index]
  if (!bytes || socket.destroyed) return
  socket.write(bytes)
  setTimeout(writePaced, gap, socket, index + 1)
}

function jsonAnswer(): Buffer {
  const message = { role: 'assistant', content: text, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const json = JSON.stringify({ ...identity, object: 'chat.completion', choices, usage })
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n`
  return Buffer.from(head + json)
}

/** What goes over the socket, write by write: the head with the first frames, then the others. */
function streamWrites(group: number): Buffer[] {
  const frames = streamFrames()
  const writes: string[] = []
  for (let at = 0; at < frames.length; at += group) {
    const bytes = frames.slice(at, at + group).join('')
    writes.push(`${bytes.length.toString(16)}\r\n${bytes}\r\n`)
  }
  writes[0] = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n${writes[0]}`
  writes[writes.length - 1] += '0\r\n\r\n'
  return writes.map((write) => Buffer.from(write))
}

function streamFrames(): string[] {
  const words = text.split(' ')
  const deltas: object[] = Array.from({ length: streamedChunks - 2 }, (_, index) => ({
    content: ` ${words[index % words.length]}`,
  }))
  const chunks = [{ role: 'assistant', content: '', refusal: null }, ...deltas, {}].map(
    (delta, index) => ({
      choices: [
        { index: 0, delta, logprobs: null, finish_reason: index > deltas.length ? 'stop' : null },
      ],
      usage: null,
    }),
  )
  const payloads = [...chunks, { choices: [], usage }].map((chunk) =>
    JSON.stringify({ ...identity, object: 'chat.completion.chunk', ...chunk }),
  )
  return [...payloads, '[DONE]'].map((payload) => `data: ${payload}\n\n`)
}

const notFound = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'
