/**
 * A fake vendor in OpenAI's format. `POST /v1/chat/completions` returns a small JSON document or,
 * when the body says `"stream":true`, 100 chunks, a usage chunk and `[DONE]`. Like a vendor under
 * load it writes frames in small groups (`--group`); for the model `bench-paced` every frame is a
 * separate write, `--gap` milliseconds after the previous one. On the paths of vendors with their
 * own APIs it streams the same text in their format.
 * Bare sockets and prepared responses, because it shares the machine with the measured process.
 */
import { createServer, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { HttpReader } from './http-reader.ts'
import { agentModel, agentWords, answerText, pacedModel, streamedWords } from './scenarios.ts'
import { vendorStreams } from './vendor-streams.ts'

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

const group = Math.max(1, Number(values.group))
const eventStream = 'text/event-stream; charset=utf-8'
const answer = jsonAnswer(chatAnswer())
const grouped = streamWrites(eventStream, streamFrames(), group)
const paced = streamWrites(eventStream, streamFrames(), 1)
const agent = streamWrites(eventStream, streamFrames(agentWords), group)
const vendors = Object.values(vendorStreams).map(
  ({ path, contentType, events, answer: whole }) => ({
    path,
    answer: whole && jsonAnswer(whole),
    writes: streamWrites(contentType, events(), group),
  }),
)

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
  const isStreamed = body.includes('"stream":true')
  if (!head.startsWith('POST /v1/chat/completions ')) replyAsVendor(socket, head, isStreamed)
  else if (!isStreamed) socket.write(answer)
  else if (body.includes(pacedModel)) writePaced(socket, 0)
  else if (body.includes(agentModel)) writeGrouped(socket, agent, 0)
  else writeGrouped(socket, grouped, 0)
}

/** Some vendors name the stream in the path only, so all but those with a whole answer stream. */
function replyAsVendor(socket: Socket, head: string, isStreamed: boolean): void {
  const [startLine = ''] = head.split('\r\n', 1)
  const vendor = vendors.find(({ path }) => startLine.includes(path))
  const asksStream = isStreamed || startLine.includes(':stream')
  if (vendor?.answer && !asksStream) socket.write(vendor.answer)
  else if (vendor) writeGrouped(socket, vendor.writes, 0)
  else socket.write(notFound)
}

/** One group per turn of the event loop, so that the streams of all connections interleave. */
function writeGrouped(socket: Socket, writes: readonly Buffer[], index: number): void {
  const bytes = writes[index]
  if (!bytes || socket.destroyed) return
  socket.write(bytes)
  setImmediate(writeGrouped, socket, writes, index + 1)
}

function writePaced(socket: Socket, index: number): void {
  const bytes = paced[index]
  if (!bytes || socket.destroyed) return
  socket.write(bytes)
  setTimeout(writePaced, gap, socket, index + 1)
}

function chatAnswer(): object {
  const message = { role: 'assistant', content: answerText, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return { ...identity, object: 'chat.completion', choices, usage }
}

function jsonAnswer(whole: object): Buffer {
  const json = JSON.stringify(whole)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n`
  return Buffer.from(head + json)
}

/** The writes to the socket: the head with the first frames, then the others. */
function streamWrites(
  contentType: string,
  frames: readonly Uint8Array[],
  groupSize: number,
): Buffer[] {
  const writes: Buffer[][] = []
  for (let at = 0; at < frames.length; at += groupSize) {
    const bytes = Buffer.concat(frames.slice(at, at + groupSize))
    writes.push([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
  }
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n`
  writes.at(0)?.unshift(Buffer.from(head))
  writes.at(-1)?.push(Buffer.from('0\r\n\r\n'))
  return writes.map((write) => Buffer.concat(write))
}

function streamFrames(words = streamedWords): Buffer[] {
  const deltas: object[] = words.map((content) => ({ content }))
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
  return [...payloads, '[DONE]'].map((payload) => Buffer.from(`data: ${payload}\n\n`))
}

const notFound = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'
