import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange as UpstreamExchange } from '../upstream/server.ts'

/** A request that passed through the relay, with the answer of the gateway. */
export interface Exchange {
  /** The calls of the gateway for this request. */
  readonly upstream: readonly UpstreamExchange[]
  readonly request: string
  readonly requestBody: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

export interface Relay {
  readonly address: string
  /** Returns the exchanges with a label so far, in order. */
  exchangesOf(label: string): readonly Exchange[]
  close(): Promise<void>
}

/**
 * Starts a relay to the gateway that records every exchange. `takeUpstream` returns the calls of the
 * gateway since it was last called for a label of the same kind. The first segment of a path is a label,
 * which the relay cuts off: `/LABEL/v1/models` becomes `/v1/models`.
 */
export async function startRelay(
  gateway: string,
  takeUpstream: (label: string) => readonly UpstreamExchange[],
): Promise<Relay> {
  const exchanges = new Map<string, Exchange[]>()
  const server = createServer((incoming, outgoing) => {
    const [, label = '', path = '/'] = /^\/([^/]*)(\/.*)$/.exec(incoming.url ?? '') ?? []
    const key = decodeURIComponent(label)
    relay({ incoming, outgoing, target: gateway + path }).then(
      (exchange) => {
        const full = { ...exchange, upstream: takeUpstream(key) }
        exchanges.set(key, [...(exchanges.get(key) ?? []), full])
      },
      (cause: unknown) => {
        process.stderr.write(`the relay failed: ${String(cause)}\n`)
        outgoing.destroy()
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    exchangesOf: (label) => exchanges.get(label) ?? [],
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Relayed {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly target: string
}

async function relay({ incoming, outgoing, target }: Relayed): Promise<Omit<Exchange, 'upstream'>> {
  const requestBody = Buffer.concat(await incoming.toArray())
  const sent = request(target, { method: incoming.method, headers: incoming.headers })
  sent.end(requestBody)
  outgoing.once('close', () => sent.destroy())
  // The event has one argument, the answer.
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const { statusCode: status = 502, headers } = answer
  outgoing.writeHead(status, headers)
  const pieces: Buffer[] = []
  for await (const piece of answer) {
    pieces.push(piece)
    outgoing.write(piece)
  }
  outgoing.end()
  const body = Buffer.concat(pieces).toString()
  const { method } = incoming
  return {
    request: `${method} ${target}`,
    requestBody: requestBody.toString(),
    status,
    headers,
    body,
  }
}
