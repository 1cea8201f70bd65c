import { RawJson, stringifyJson } from '../../wire/json/raw.ts'

/*
 * Writes a whole answer as the events of the stream that should have come in its place.
 */

/** Writes one server-sent event. `name` is left out where the API has no `event:` line. */
export function writeEvent(data: object, name?: string): string {
  const head = name === undefined ? '' : `event: ${name}\n`
  return `${head}data: ${stringifyJson(data)}\n\n`
}

/** Returns JSON text for an event. Valid JSON has line breaks only between its tokens; an event is one line. */
export function toOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, ' ')
}

/** Keeps a value as the vendor wrote it: parsing would round large numbers. */
export function keepJson(json: string | undefined, value: unknown): unknown {
  return json === undefined ? value : new RawJson(toOneLine(json))
}
