import { EventStreamCodec } from '@smithy/eventstream-codec'

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => new TextEncoder().encode(text),
)

/** One message in Amazon's own encoding, with these string headers. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload = ''): Uint8Array {
  const typed = Object.entries(headers).map(
    ([name, value]) => [name, { type: 'string', value }] as const,
  )
  return codec.encode({
    headers: Object.fromEntries(typed),
    body: new TextEncoder().encode(payload),
  })
}

/** One event with a JSON payload. */
export function awsEvent(type: string, payload: object): Uint8Array {
  return jsonMessage({ ':event-type': type, ':message-type': 'event' }, payload)
}

/** An exception of the service model. */
export function awsException(type: string, payload: object): Uint8Array {
  return jsonMessage({ ':exception-type': type, ':message-type': 'exception' }, payload)
}

function jsonMessage(headers: Readonly<Record<string, string>>, payload: object): Uint8Array {
  return awsMessage({ ':content-type': 'application/json', ...headers }, JSON.stringify(payload))
}
