import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A client that writes and reads raw bytes. */
export interface RawClient {
  readonly socket: Socket
  send(text: string): void
  /** Resolves to all received text after the server has closed the connection. */
  readonly whole: Promise<string>
  /** Resolves with all received text when it contains `needle`. */
  until(needle: string | RegExp): Promise<string>
}

export function rawClient(port: number): RawClient {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (piece: string) => {
    received += piece
  })
  // A reset also ends the connection.
  socket.on('error', () => {})
  const whole = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received))
  })
  return {
    socket,
    whole,
    send: (text) => void socket.write(text, 'latin1'),
    until: (needle) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found =
            typeof needle === 'string' ? received.includes(needle) : needle.test(received)
          if (found) resolve(received)
        }
        socket.on('data', look)
        socket.once('close', () => reject(new Error(`closed before ${needle}: ${received}`)))
        look()
      }),
  }
}

/** Sends `text` as one raw request and returns the response. */
export function rawAnswer(port: number, text: string): Promise<string> {
  const client = rawClient(port)
  client.send(text)
  return client.whole
}

/** Parses status, headers and body of the last response in `received`. */
export function parsed(received: string) {
  const start = received.lastIndexOf('HTTP/1.1 ')
  const [head = '', body = ''] = received.slice(start).split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}
