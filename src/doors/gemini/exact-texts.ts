import { openBrace, openBracket } from '../../wire/json/codes.ts'
import { findValueEnd, readItems, readMembers, skipSpace } from '../../wire/json/text.ts'

/** A member of a part, and the value in it that goes to other vendors as text. */
interface ExactValue {
  readonly member: string
  readonly value: string
}

const call: ExactValue = { member: 'functionCall', value: 'args' }
const result: ExactValue = { member: 'functionResponse', value: 'response' }

/** By the names of the members, in both spellings. */
const exactValues: ReadonlyMap<string, ExactValue> = new Map([
  ['functionCall', call],
  ['function_call', call],
  ['functionResponse', result],
  ['function_response', result],
])

/**
 * Returns arguments and results as the client wrote them, by their paths in the unified spelling: parsing would
 * round large numbers. Where one content, or one part, stands in place of a list, its path has the index 0. The
 * text must be valid JSON.
 */
export function readExactTexts(json: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const readPart = (start: number, path: string) =>
    readObject(json, start, (at, name) => {
      const exact = exactValues.get(name)
      if (!exact) return findValueEnd(json, at)
      return readObject(json, at, (inner, key) => {
        const end = findValueEnd(json, inner)
        if (key === exact.value) {
          texts.set(`${path}.${exact.member}.${exact.value}`, json.slice(inner, end))
        }
        return end
      })
    })
  const readContent = (start: number, path: string) =>
    readObject(json, start, (at, name) =>
      name === 'parts'
        ? readEach(json, at, (part, index) => readPart(part, `${path}.parts.${index}`))
        : findValueEnd(json, at),
    )
  readObject(json, skipSpace(json, 0), (at, name) =>
    name === 'contents'
      ? readEach(json, at, (content, index) => readContent(content, `contents.${index}`))
      : findValueEnd(json, at),
  )
  return texts
}

function readObject(
  json: string,
  start: number,
  read: (at: number, name: string) => number,
): number {
  return json.charCodeAt(start) === openBrace
    ? readMembers(json, start, read)
    : findValueEnd(json, start)
}

/** Reads the items of a list, or the one value in its place. */
function readEach(
  json: string,
  start: number,
  read: (at: number, index: number) => number,
): number {
  return json.charCodeAt(start) === openBracket ? readItems(json, start, read) : read(start, 0)
}
