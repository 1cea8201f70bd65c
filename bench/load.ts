/**
 * The load generator, a separate process: takes one `Job` after the other from its parent and
 * answers each with a `Sample`. Bare sockets and prepared requests, so that the proxy under
 * test limits the rate. It reads the processor time of all processes itself, right
 * before the first request and right after the last answer.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HttpReader } from './http-reader.ts'
import { cpuMillis, machineCpuMillis, quantile } from './measure.ts'

export interface Job {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  readonly path: string
  readonly body: string
  readonly connections: number
  /** Server-sent events that a complete answer has; 0 for a JSON answer. */
  readonly frames: number
  /** No request starts after this many milliseconds; requests in flight may finish. */
  readonly milliseconds: number
  /** No request starts after so many are answered. Absent: only the time ends the job. */
  readonly requests?: number | undefined
  /** Requests a second over all connections. Absent: each connection sends the next request at once. */
  readonly rate?: number | undefined
  /** All processes of the proxy. */
  readonly proxyPids: readonly number[]
  readonly upstreamPid: number
}

export interface Sample {
  /** Number of complete responses with status 200; all other figures are of these. */
  readonly requests: number
  readonly frames: number
  /** Number of other responses and broken connections. */
  readonly errors: number
  readonly seconds: number
  /** Milliseconds from the request to the last byte of its answer. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** Milliseconds from the request to the first byte of the answer's body, at the median. */
  readonly firstByte: number
  /** Processor time used during the sample, in milliseconds. */
  readonly cpu: Usage
}

interface Usage {
  readonly proxy: number
  readonly upstream: number
  readonly load: number
  /** Processor time of all other processes in that time: noise. */
  readonly others: number
}

interface Tally {
  readonly latencies: number[]
  readonly firstBytes: number[]
  frames: number
  errors: number
}

process.on('message', (job: Job) => {
  void run(job).then((sample) => process.send?.(sample))
})
process.once('disconnect', () => process.exit())

async function run(job: Job): Promise<Sample> {
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => take(job.port)))
  const tally: Tally = { latencies: [], firstBytes: [], frames: 0, errors: 0 }
  const request = requestBytes(job)
  const before = usage(job)
  const started = performance.now()
  const until = started + job.milliseconds
  await Promise.all(
    sockets.map((socket, at) => {
      const due = schedule(job, started, at)
      return drive(socket, { job, request, until, due, tally })
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const after = usage(job)
  sockets.forEach((socket) => giveBack(socket, job.port))
  return {
    requests: tally.latencies.length,
    frames: tally.frames,
    errors: tally.errors,
    seconds,
    p50: quantile(tally.latencies, 0.5),
    p99: quantile(tally.latencies, 0.99),
    p999: quantile(tally.latencies, 0.999),
    firstByte: quantile(tally.firstBytes, 0.5),
    cpu: {
      proxy: after.proxy - before.proxy,
      upstream: after.upstream - before.upstream,
      load: after.load - before.load,
      others: Math.max(0, after.others - before.others),
    },
  }
}

function usage({ proxyPids, upstreamPid }: Job): Usage {
  const total = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuMillis(pid), 0)
  return {
    proxy: total(proxyPids),
    upstream: cpuMillis(upstreamPid),
    load: cpuMillis(process.pid),
    others: machineCpuMillis() - total([...new Set([...proxyPids, upstreamPid, process.pid])]),
  }
}

/**
 * Returns a function that returns when a connection sends its next request. The turns of all connections
 * are spread evenly. Without a rate it is at once.
 */
function schedule({ rate, connections }: Job, started: number, at: number): () => number {
  if (rate === undefined) return () => performance.now()
  const interval = 1_000 / rate
  let turn = at
  return () => {
    const due = started + turn * interval
    turn += connections
    return due
  }
}

interface Drive {
  readonly job: Job
  readonly request: Buffer
  readonly until: number
  readonly due: () => number
  readonly tally: Tally
}

/** Sends request after request over one connection. A connection that breaks is not replaced. */
function drive(socket: Socket, { job, request, until, due, tally }: Drive): Promise<void> {
  return new Promise((resolve) => {
    const frames = new FrameCount()
    const { requests: maxRequests = Number.POSITIVE_INFINITY } = job
    let sent = 0
    let firstByte = 0
    const reader = new HttpReader((piece) => {
      firstByte ||= performance.now()
      if (job.frames > 0) frames.add(piece)
    })
    function send() {
      frames.total = 0
      firstByte = 0
      // A request that an earlier one has delayed counts from when it was due.
      sent = due()
      if (sent >= until || tally.latencies.length >= maxRequests) {
        socket.off('close', broken).off('data', read)
        return resolve()
      }
      const wait = sent - performance.now()
      if (wait > 0) setTimeout(write, wait)
      else socket.write(request)
    }
    function write() {
      // The delay of a timer is not that of the proxy.
      sent = performance.now()
      socket.write(request)
    }
    function broken() {
      tally.errors++
      resolve()
    }
    socket.on('close', broken)
    socket.on('data', read)
    function read(bytes: Buffer) {
      if (!reader.push(bytes)) return
      if (reader.head.startsWith('HTTP/1.1 200 ') && frames.total === job.frames) {
        tally.latencies.push(performance.now() - sent)
        tally.firstBytes.push(firstByte - sent)
        tally.frames += frames.total
      } else {
        tally.errors++
      }
      send()
    }
    send()
  })
}

/** Counts blank lines, including those split between pieces. A line may end with CRLF. */
class FrameCount {
  total = 0
  #afterLineFeed = false

  add(piece: Buffer): void {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]
      if (byte === 0x0d) continue
      const isLineFeed = byte === 0x0a
      if (isLineFeed && this.#afterLineFeed) this.total++
      this.#afterLineFeed = isLineFeed && !this.#afterLineFeed
    }
  }
}

function requestBytes({ port, headers, path, body }: Job): Buffer {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

interface Idle {
  readonly socket: Socket
  readonly since: number
}

/** Connections by port. They outlast a job, so that opening and closing is not measured. */
const idle = new Map<number, Idle[]>()

/** Servers close connections that have been idle for longer. */
const maxIdleTime = 3_000

function take(port: number): Socket | Promise<Socket> {
  const waiting = idle.get(port) ?? []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (!next.socket.destroyed && performance.now() - next.since < maxIdleTime) return next.socket
    next.socket.destroy()
  }
  return open(port)
}

function giveBack(socket: Socket, port: number): void {
  const waiting = idle.get(port) ?? []
  idle.set(port, [...waiting, { socket, since: performance.now() }])
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  // Once it is open, only the `close` after an error matters.
  socket.on('error', () => undefined)
  return socket
}
