const encoder = new TextEncoder()

/** Encodes one event. Official SDKs skip data without a line for the event's name. */
export function encodeEvent(name: string, data: object): Uint8Array {
  return encoder.encode(renderEvent(name, data))
}

/** Renders one event; its name is the value of `type` too. */
export function renderEvent(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
}

/** A keep-alive event. */
export const ping = encodeEvent('ping', {})
