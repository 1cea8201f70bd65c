import { lookup } from 'node:dns/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { ImageFetchPort, PinnedRequest, UpstreamResponse } from '../../../src/index.ts'
import { BoundedQueue } from '../../../src/wire/bounded-queue.ts'
import { abortFault, faultOf } from '../upstream/fault.ts'

/**
 * Remote images over connections of their own, each to the one address that it was given: between
 * the check of a name and the connection, nobody asks for its address again.
 */
export const nodeImageFetch: ImageFetchPort = {
  async resolve(host) {
    try {
      const found = await lookup(host, { all: true })
      return found.map(({ address }) => address)
    } catch (error) {
      throw faultOf(error)
    }
  },
  fetch: (request) =>
    new Promise((resolve, reject) => {
      if (request.signal.aborted) return reject(abortFault())
      const send = request.url.startsWith('https:') ? httpsRequest : httpRequest
      const outgoing = send(request.url, {
        // A kept connection could lead elsewhere than to this address.
        agent: false,
        lookup: pinned(request.address),
        headers: { ...request.headers, 'accept-encoding': 'identity' },
      })
      const abort = () => outgoing.destroy(abortFault())
      request.signal.addEventListener('abort', abort)
      outgoing.once('close', () => request.signal.removeEventListener('abort', abort))
      outgoing.once('response', (response) => resolve(received(response, request)))
      outgoing.on('error', (error) => reject(faultOf(error)))
      outgoing.end()
    }),
}

/** Whoever asks for whichever name gets the one address. */
function pinned(address: string): LookupFunction {
  const family = isIP(address)
  return (_, { all }, callback) =>
    all ? callback(null, [{ address, family }]) : callback(null, address, family)
}

function received(message: IncomingMessage, { queueLimit }: PinnedRequest): UpstreamResponse {
  const body = new BoundedQueue(queueLimit, () => message.destroy())
  message.on('data', (bytes: Uint8Array) => body.push(bytes))
  message.on('end', () => body.end())
  message.on('error', (error) => body.fail(faultOf(error).failure))
  message.on('close', () => body.fail({ kind: 'network', reason: 'closed' }))
  return {
    status: message.statusCode ?? 0,
    header: (name) => [message.headers[name]].flat()[0],
    body,
  }
}
