/** Renders one event. `members` is the text of a JSON object that is not empty. */
export function encodeEvent(type: string, sequence: number, members: string): string {
  return `${beginEvent(type, sequence)}${members.slice(1, -1)}${endOfEvent}`
}

/** Renders an event up to its own members. */
export function beginEvent(type: string, sequence: number): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},`
}

export const endOfEvent = '}\n\n'

/** A comment with ONE line end. With a blank line after it, some official SDKs would read an empty event. */
export const ping: Uint8Array = new TextEncoder().encode(': ping\n')
