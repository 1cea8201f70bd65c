import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UpstreamFault } from '../../src/core/failure.ts'
import { maxEventBytes, type RawEvent, SseSplitter } from '../../src/wire/sse.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const textOf = (events: readonly RawEvent[]) =>
  events.map(({ bytes }) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).join('')

function split(...chunks: readonly Uint8Array[]): RawEvent[] {
  const splitter = new SseSplitter()
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

/** What an event means, without its bytes. */
const meaning = ({ data, event }: RawEvent) => ({ data, event })

/** What a stream of events tells. */
const told = (events: readonly RawEvent[]) =>
  events.map(meaning).filter(({ data, event }) => data !== undefined || event !== undefined)

/** Streams of the bytes that matter, so that every order of line ends comes up. */
const stream = fc
  .array(
    fc.constantFrom('\n', '\r', '\r\n', '\n\n', 'data: a', 'data:b', ': c', 'event: e', 'ż', ':'),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''))
const cuts = fc.array(fc.nat(200), { maxLength: 8 })

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ordered = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  )
  return ordered.slice(1).map((end, at) => bytes.subarray(ordered[at], end))
}

describe('splitting a stream into events', () => {
  test('no byte is lost or added, whatever the line ends and the split', () => {
    fc.assert(
      fc.property(stream, cuts, (text, places) => {
        expect(textOf(split(...cutAt(utf8(text), places)))).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  test('the events are the same however the stream is split', () => {
    fc.assert(
      fc.property(stream, cuts, (text, places) => {
        const bytes = utf8(text)
        expect(told(split(...cutAt(bytes, places)))).toEqual(told(split(bytes)))
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['LF', 'data: a\n\n'],
    ['CRLF', 'data: a\r\n\r\n'],
    ['CR', 'data: a\r\r'],
    ['LF and CRLF', 'data: a\n\r\n'],
    ['CRLF and LF', 'data: a\r\n\n'],
  ])('%s: an event is complete when its blank line is', (_, text) => {
    const [first, ...others] = split(utf8(`${text}data: next\n\n`))
    expect(first).toMatchObject({ data: 'a', closed: true })
    expect(textOf(first ? [first] : [])).toBe(text)
    expect(others.map(meaning)).toEqual([{ data: 'next', event: undefined }])
  })

  test('with CR line ends an event does not wait for an LF', () => {
    expect(new SseSplitter().push(utf8('data: a\r\r'))).toHaveLength(1)
  })
})

describe('the fields of an event', () => {
  test.each([
    ['one space after the colon belongs to the field', 'data:  a \n\n', { data: ' a ' }],
    ['no space is needed', 'data:a\n\n', { data: 'a' }],
    ['a colon in the value is part of it', 'data: a: b\n\n', { data: 'a: b' }],
    ['lines of data are joined', 'data: a\ndata: b\ndata:\n\n', { data: 'a\nb\n' }],
    ['a field without a colon is empty', 'data\n\n', { data: '' }],
    ['a comment is no field', ': data: a\n\n', { data: undefined, event: undefined }],
    ['unknown fields are passed over', 'dat: a\ndatax: b\nid: 1\n\n', { data: undefined }],
    ['the last event type counts', 'event: a\nevent: b\ndata: x\n\n', { event: 'b', data: 'x' }],
    [
      'a byte order mark before the first field is no part of it',
      '\uFEFFdata: a\n\n',
      { data: 'a' },
    ],
    ['field names are lower case', 'Data: a\n\n', { data: undefined }],
  ])('fields: %s', (_, text, expected) => {
    expect(split(utf8(text))).toMatchObject([expected])
  })
})

test.each(['\n', '\r\n', '\r'])('lines that end in %j give the same events', (lineEnd) => {
  const text = 'event: a\ndata: 1\n\ndata: 2\n\n: c\n\ndata: ż\n\ndata:\ndata: 3\n\n'
  const events = [...split(utf8(text.replaceAll('\n', lineEnd)))].map(meaning)
  expect(events).toEqual(split(utf8(text)).map(meaning))
  expect(events).toHaveLength(5)
})

test('a lone CR ends a line, also among CRLF lines', () => {
  const events = split(utf8('data: a\r\n\r\ndata: b\r\rdata: c\r\n\r\n'))
  expect(events.map(({ data }) => data)).toEqual(['a', 'b', 'c'])
})

test('CRLF is recognized again after a lone CR', () => {
  const chunks = ['data: a\r\n\r\n', 'data: b\rdata: c\r\r', '\ndata: d\n\n']
  const events = split(...chunks.map(utf8))
  expect(events.map(({ data }) => data)).toEqual(['a', 'b\nc', 'd'])
  expect(textOf(events.slice(1, 2))).toBe('data: b\rdata: c\r\r\n')
})

test('a byte order mark within the stream belongs to the name of a field', () => {
  const events = split(utf8('data: a\n\n\uFEFFdata: b\n\n'), utf8('\uFEFFdata: c\n\n'))
  expect(events.map(({ data }) => data)).toEqual(['a', undefined, undefined])
})

test('an event without its blank line is returned at the end, marked as not closed', () => {
  expect(split(utf8('data: a\n\ndata: b\n'))).toMatchObject([
    { data: 'a', closed: true },
    { data: 'b', closed: false },
  ])
})

test('a blank line whose LF never arrives still ends the event', () => {
  expect(split(utf8('data: a\r\n\r'))).toMatchObject([{ data: 'a', closed: true }])
})

test('an event over the size limit is malformed', () => {
  const splitter = new SseSplitter()
  const megabyte = new Uint8Array(2 ** 20).fill(0x61)
  const push = () => {
    for (let pushed = 0; pushed <= maxEventBytes; pushed += megabyte.length) splitter.push(megabyte)
  }
  expect(push).toThrow(UpstreamFault)
})

describe('blank lines in a row', () => {
  test.each(['\n', '\r\n', '\r'])(
    'consecutive blank lines that end in %j are one event',
    (lineEnd) => {
      const text = `data: a${lineEnd.repeat(1000)}data: b${lineEnd}${lineEnd}`
      const events = split(utf8(text))
      expect(events.map(({ data }) => data)).toEqual(['a', undefined, 'b'])
      expect(textOf(events)).toBe(text)
    },
  )

  test('consecutive blank lines are one event per chunk', () => {
    const chunk = utf8('\n'.repeat(1000))
    expect(split(...Array<Uint8Array>(5).fill(chunk))).toHaveLength(5)
  })

  test('blank lines with mixed line ends are one event', () => {
    const text = ': c\n\n\r\n\r\r\n\n\r'
    expect(split(utf8(text))).toHaveLength(2)
    expect(textOf(split(utf8(text)))).toBe(text)
  })
})

test('an event that arrives byte by byte takes memory of about its length', () => {
  const splitter = new SseSplitter()
  const byte = utf8('x')
  const before = process.memoryUsage()
  for (let count = 0; count < 500_000; count++) splitter.push(byte)
  const after = process.memoryUsage()
  // A piece of its own for each of them took 50 MB.
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8_000_000)
})
