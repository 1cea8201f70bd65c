import assert from 'node:assert/strict'
import { type RawEvent, SseSplitter } from '../../../src/wire/sse.ts'
import { type FuzzTarget, splitInput } from '../target.ts'

/** The events are those of a plain reading of the standard, however the bytes are split. */
export const sse: FuzzTarget = {
  seeds: [
    'data: {"a":1}\n\ndata: [DONE]\n\n',
    'event: a\r\ndata: 1\r\n\r\n: ping\r\n\r\n',
    'id: 7\rdata:a\rdata: b\r\rdata',
    '\uFEFFdata: ż\n\n\n\n',
  ],
  words: ['\n', '\r', '\r\n', '\n\n', '\r\r', 'data: ', 'data:', 'event: e', ': c', ':', '\uFEFF'],
  check(input) {
    const { whole, pieces } = splitInput(input)
    const expected = readByStandard(whole)
    for (const chunks of [[whole], pieces]) {
      const events = readAll(chunks)
      assert.deepEqual(Buffer.concat(events.map(({ bytes }) => bytes)), Buffer.from(whole))
      assert.deepEqual(listFields(events), expected)
    }
  },
}

function readAll(chunks: readonly Uint8Array[]): RawEvent[] {
  const splitter = new SseSplitter()
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

type Fields = Pick<RawEvent, 'data' | 'event'>

function listFields(events: readonly Fields[]): Fields[] {
  return events
    .map(({ data, event }) => ({ data, event }))
    .filter(({ data, event }) => data !== undefined || event !== undefined)
}

/**
 * Reads the fields of the events that have any.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function readByStandard(bytes: Uint8Array): Fields[] {
  const events: Fields[] = []
  let data: string[] = []
  let event: string | undefined
  const dispatch = () => {
    events.push({ data: data.length > 0 ? data.join('\n') : undefined, event })
    data = []
    event = undefined
  }
  for (const line of new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)) {
    if (line === '') {
      dispatch()
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? []
    if (name === 'data') data.push(value)
    if (name === 'event') event = value
  }
  dispatch()
  return listFields(events)
}
