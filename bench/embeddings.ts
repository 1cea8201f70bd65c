/**
 * 2,048 vectors of 1,536 numbers through the gateway, as floats and as base64, and as floats through a
 * proxy that parses them. Upstream, gateways, proxy and client are processes of their own; this one
 * is the client, and sends its figures to its parent, `run.ts`.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { parseArgs } from 'node:util'
import { items, warmUpItems } from './embeddings-size.ts'
import { median } from './measure.ts'
import { nextMessage, startScript, stopAll, stopAllAtExit } from './processes.ts'
import type { Vitals } from './vitals.ts'

type Encoding = 'float' | 'base64'

/** `parsed`: as floats, through the proxy. */
type RowName = Encoding | 'parsed'

/** The cost of responses in one encoding; the median of the runs. */
export interface EmbeddingsRow {
  /** Milliseconds until a client has read all bytes. */
  readonly read: number
  /** The same until it has numbers, converted like in the official SDK. */
  readonly use: number
  /** Processor time of the gateway's process for one response, all threads, in milliseconds. */
  readonly cpu: number
  /** The longest time its event loop was blocked, including garbage collection, in milliseconds. */
  readonly stall: number
  /** Its own processor time in the longest turn of the loop, in milliseconds. */
  readonly busy: number
  readonly answerMegabytes: number
  /** Peak growth of its memory after the first response, per byte of the response. */
  readonly memory: number
}

export interface EmbeddingsFigures {
  readonly rows: Readonly<Record<RowName, EmbeddingsRow>>
  /** Number of base64 responses in the time of one with floats, by `use`, compared run by run. */
  readonly rate: number
  /** The same relative to floats that are parsed and serialized again, by `read`. */
  readonly rateAgainstParsed: number
}

interface Run extends Vitals {
  readonly read: number
  readonly use: number
  readonly size: number
}

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '9' } } })

/** A gateway or the proxy, used for one encoding only, and its results. */
class Measured {
  readonly runs: Run[] = []
  readonly #encoding: Encoding
  readonly #gateway: ChildProcess
  readonly #port: number
  #idle = 0

  static async start(script: string, encoding: Encoding, upstream: string): Promise<Measured> {
    const gateway = startScript(script, ['--upstream', upstream])
    const measured = new Measured(encoding, gateway, Number(await nextMessage(gateway)))
    // Enough to compile, too small to grow memory.
    for (let run = 0; run < 20; run++) await post(measured.#port, encoding, warmUpItems)
    measured.#idle = (await measured.#vitals()).memory
    return measured
  }

  private constructor(encoding: Encoding, gateway: ChildProcess, port: number) {
    this.#encoding = encoding
    this.#gateway = gateway
    this.#port = port
  }

  async run(): Promise<void> {
    const begun = performance.now()
    const pieces = await post(this.#port, this.#encoding, items)
    const read = performance.now() - begun
    const body = Buffer.concat(pieces)
    decodeNumbers(body, this.#encoding)
    const use = performance.now() - begun
    this.runs.push({ ...(await this.#vitals()), read, use, size: body.length })
  }

  row(): EmbeddingsRow {
    const figure = (of: (run: Run) => number) => median(this.runs.map(of))
    const size = figure((run) => run.size)
    return {
      read: figure((run) => run.read),
      use: figure((run) => run.use),
      cpu: figure((run) => run.cpu),
      stall: figure((run) => run.stall),
      busy: figure((run) => run.busy),
      answerMegabytes: size / 1e6,
      memory: (Math.max(...this.runs.map(({ peak }) => peak)) - this.#idle) / size,
    }
  }

  async #vitals(): Promise<Vitals> {
    this.#gateway.send('vitals')
    // The gateway's process sends only this message.
    return (await nextMessage(this.#gateway)) as Vitals
  }
}

async function post(port: number, encoding: Encoding, count: number): Promise<Buffer[]> {
  const body = JSON.stringify({
    model: 'm',
    input: Array.from({ length: count }, (_, index) => `text number ${index}`),
    encoding_format: encoding,
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/embeddings',
    headers: { 'content-length': Buffer.byteLength(body) },
  })
  request.end(body)
  const [response] = await once(request, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  if (response.statusCode !== 200) throw new Error(Buffer.concat(pieces).toString())
  return pieces
}

/** Decodes like the official SDK. */
function decodeNumbers(body: Buffer, encoding: Encoding): number[][] {
  const { data } = JSON.parse(body.toString()) as { data: { embedding: string & number[] }[] }
  if (encoding === 'float') return data.map(({ embedding }) => embedding)
  return data.map(({ embedding }) => {
    const { buffer, byteOffset, length } = Buffer.from(embedding, 'base64')
    return Array.from(new Float32Array(buffer, byteOffset, length / 4))
  })
}

stopAllAtExit()
process.once('disconnect', () => process.exit())
const upstream = startScript('embeddings-upstream')
const upstreamPort = `${await nextMessage(upstream)}`
const float = await Measured.start('embeddings-gateway', 'float', upstreamPort)
const base64 = await Measured.start('embeddings-gateway', 'base64', upstreamPort)
const parsed = await Measured.start('embeddings-parsed', 'float', upstreamPort)
for (let run = 0; run < Number(options.runs); run++) {
  // Alternate, so that other load on the machine affects all subjects.
  const all = [float, base64, parsed]
  for (const one of run % 2 === 0 ? all : all.toReversed()) await one.run()
}
await stopAll()
const figures: EmbeddingsFigures = {
  rows: { float: float.row(), base64: base64.row(), parsed: parsed.row() },
  rate: rateAgainst(float, ({ use }) => use),
  rateAgainstParsed: rateAgainst(parsed, ({ read }) => read),
}
process.send?.(figures, () => process.exit())

function rateAgainst(other: Measured, time: (run: Run) => number): number {
  const rates = base64.runs.map((run, at) => {
    const beside = other.runs[at]
    return beside ? time(beside) / time(run) : Number.NaN
  })
  return median(rates)
}
