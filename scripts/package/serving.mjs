// A vendor that answers chat completions, and checks of the answers of a gateway in front of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const words = ['Hello ', 'from ', 'the ', 'vendor']
const said = words.join('')

/** Starts the vendor on a free port. */
export async function startVendor() {
  const server = createServer(async (request, response) => {
    const { stream } = await json(request)
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    response.end(stream ? streamed() : JSON.stringify(whole))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => server.close().closeAllConnections()
  return { address: `http://127.0.0.1:${server.address().port}`, close }
}

const whole = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_764_000_000,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 },
}

function streamed() {
  const deltas = [{ role: 'assistant', content: '' }, ...words.map((content) => ({ content })), {}]
  const chunks = deltas.map((delta, at) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: at === deltas.length - 1 ? 'stop' : null }],
  }))
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('')
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Fails unless the gateway that `start` starts answers on its port, single and concurrent requests. */
export async function expectToServe(runtime, port, start) {
  const address = `http://127.0.0.1:${port}`
  const process = start()
  const ended = once(process, 'exit')
  try {
    await healthy(address, runtime)
    await expectWhole(address)
    await Promise.all(Array.from({ length: 8 }, () => expectStream(address)))
    await expectNoMetrics(address)
  } finally {
    process.kill()
    await ended
  }
  console.log(`${runtime}: serves chat completions, streamed and not`)
}

async function healthy(address, runtime) {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`${address}/health`).catch(() => undefined)
    if (response?.ok) return response.text()
    await pause(100)
  }
  throw new Error(`${runtime} does not serve within 20 s`)
}

async function expectWhole(address) {
  const response = await ask(address, { stream: false })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('x-gateway-provider'), 'vendor')
  assert.deepEqual(await response.json(), whole)
}

async function expectStream(address) {
  const response = await ask(address, { stream: true })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type'), /^text\/event-stream/)
  const frames = (await response.text()).split('\n\n')
  assert.deepEqual(frames.slice(-2), ['data: [DONE]', ''])
  const chunks = frames.slice(0, -2).map((frame) => JSON.parse(frame.replace(/^data: /, '')))
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
  assert.equal(deltas.join(''), said)
}

async function expectNoMetrics(address) {
  const response = await fetch(`${address}/metrics`)
  assert.equal(response.status, 404)
  assert.match((await response.json()).error.message, /no metrics/)
}

function ask(address, { stream }) {
  const messages = [{ role: 'user', content: 'Hi' }]
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages, stream }),
  })
}
