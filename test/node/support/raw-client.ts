import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A client that writes and reads bytes as they are. */
export interface RawClient {
  readonly socket: Socket
  send(text: string): void
  /** Everything that came until the server closed the connection. */
  readonly whole: Promise<string>
  /** Resolves when what has come holds `needle`, with all of it. */
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
  // A reset ends the connection as well as a close does.
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

/** What a server answers to one request that is `text`, byte for byte. */
export function rawAnswer(port: number, text: string): Promise<string> {
  const client = rawClient(port)
  client.send(text)
  return client.whole
}

/** Status, headers and body of the last answer in `received`. */
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
