import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, tryParseJson } from '../../../src/wire/json/parse.ts'
import { JsonPattern } from '../../../src/wire/json/pattern.ts'

interface Chunk {
  readonly id: string
  readonly sequence: unknown
  readonly choices: readonly { readonly delta: { readonly content: string } }[]
  readonly padding?: unknown
  readonly usage?: unknown
}

const parse = (json: string) => tryParseJson(json) as Partial<Chunk> | undefined
const readContent = (json: string) => parse(json)?.choices?.[0]?.delta.content

const createPattern = () =>
  new JsonPattern({
    readText: readContent,
    varying: ['sequence', 'padding'],
    counts: {
      names: ['prompt', 'answer'],
      read(json) {
        const usage = parse(json)?.usage
        return isObject(usage) ? usage : undefined
      },
    },
  })

const chunk = (content: string, rest: Partial<Chunk> = {}) =>
  JSON.stringify({ id: 'a', sequence: 0, choices: [{ delta: { content } }], ...rest })

function learned(json: string): JsonPattern {
  const pattern = createPattern()
  expect(pattern.learn(json, readContent(json) ?? '')).toBe(true)
  return pattern
}

describe('texts that differ only in one string', () => {
  test.each([
    ['plain', ' world'],
    ['empty', ''],
    ['with escapes', 'a "quoted"\n\\ \u0007 path'],
    ['like the text around it', '"}}]}'],
    ['in another script', 'Привет 👋'],
  ])('a string is read as it is parsed: %s', (_, content) => {
    expect(learned(chunk('Hello')).match(chunk(content))?.text).toBe(content)
  })

  test('numbers and plain strings of the named members may differ, too', () => {
    const pattern = learned(chunk('Hello', { sequence: 9, padding: 'abc' }))
    expect(pattern.match(chunk('x', { sequence: 10, padding: '' }))?.text).toBe('x')
    expect(pattern.match(chunk('x', { sequence: 10, padding: 'a"b' }))).toBeUndefined()
    expect(pattern.match(chunk('x', { sequence: -1, padding: '' }))).toBeUndefined()
    expect(pattern.match(chunk('x', { sequence: {}, padding: '' }))).toBeUndefined()
  })

  test('counts may differ and are read', () => {
    const pattern = learned(chunk('Hello', { usage: { prompt: 3, answer: 1, other: 5 } }))
    const match = (usage: unknown) => pattern.match(chunk('x', { usage }))
    const { text, counts } = match({ prompt: 3, answer: 20, other: 5 }) ?? {}
    expect({ text, counts }).toEqual({ text: 'x', counts: { prompt: 3, answer: 20 } })
    expect(match({ prompt: 0, answer: 999_999_999_999_999, other: 5 })?.counts).toEqual({
      prompt: 0,
      answer: 999_999_999_999_999,
    })
    for (const answer of [-1, 0.5, 1e15, 1e21, '2', 'b', null, {}]) {
      expect(match({ prompt: 3, answer, other: 5 })).toBeUndefined()
    }
    expect(match({ prompt: 3, answer: 20, other: 6 })).toBeUndefined()
    expect(match({ prompt: 3, other: 5 })).toBeUndefined()
    expect(match({ answer: 1, prompt: 3, other: 5 })).toBeUndefined()
  })

  test('white space before a count is allowed', () => {
    const spaced = chunk('Hello', { usage: { answer: 1 } }).replaceAll(':', ': ')
    const other = spaced.replace('Hello', 'x').replace('1}', '17}')
    const { text, counts } = learned(spaced).match(other) ?? {}
    expect({ text, counts }).toEqual({ text: 'x', counts: { answer: 17 } })
  })

  test.each([
    ['elsewhere before', '{"answer":7,"choices":[{"delta":{"content":"a"}}],"usage":{"answer":7}}'],
    ['twice', '{"choices":[{"delta":{"content":"a"}}],"usage":{"answer":7,"answer":7}}'],
    [
      'in another name',
      '{"choices":[{"delta":{"content":"a"}}],"usage":{"x\\"answer":7,"answer":7}}',
    ],
    ['as a fraction', '{"choices":[{"delta":{"content":"a"}}],"usage":{"answer":7.5}}'],
    ['too long', '{"choices":[{"delta":{"content":"a"}}],"usage":{"answer":1234567890123456}}'],
  ])('a count whose place is not certain is not learned: %s', (_, json) => {
    expect(createPattern().learn(json, 'a')).toBe(false)
  })

  test('a string that occurs elsewhere before is not mistaken for the other', () => {
    const pattern = createPattern()
    expect(pattern.learn(chunk('a'), 'a')).toBe(false)
    expect(pattern.match(chunk('b'))).toBeUndefined()
    expect(pattern.learn(chunk('b'), 'b')).toBe(true)
    expect(pattern.match(chunk('c'))?.text).toBe('c')
  })

  test.each([
    ['another member', chunk('x', { id: 'b' })],
    [
      'a second member of the same name',
      `{"id":"a","sequence":0,"choices":[{"delta":{"content":"x","content":"y"}}]}`,
    ],
    ['an unescaped quote', chunk('x').replace('"x"', '"x"y"')],
    ['a control character', chunk('x').replace('"x"', '"\n"')],
    ['half an escape', chunk('x').replace('"x"', '"\\"')],
    ['an unknown escape', chunk('x').replace('"x"', '"\\q"')],
    ['text before', ` ${chunk('x')}`],
    ['text after', `${chunk('x')} `],
    ['a shorter text', '{"id":"a"}'],
  ])('any other difference is left to the parser: %s', (_, json) => {
    expect(learned(chunk('Hello')).match(json)).toBeUndefined()
  })

  test('learning ends when no text is like another, and goes on when some are', () => {
    const lonely = createPattern()
    const tries = Array.from({ length: 10 }, (_, at) =>
      lonely.learn(chunk('Hello', { id: `id-${at}` }), 'Hello'),
    )
    expect(tries.filter(Boolean)).toHaveLength(8)
    const pattern = createPattern()
    for (let at = 0; at < 20; at++) {
      const own = { id: `id-${at}` }
      expect(pattern.learn(chunk('Hello', own), 'Hello')).toBe(true)
      expect(pattern.match(chunk('x', own))?.text).toBe('x')
    }
  })

  test('whatever is recognized parses to the learned value with that string', () => {
    const pieces = [
      '"',
      '\\',
      '\\n',
      '\\u00e9',
      '\\q',
      '\u0001',
      '}',
      '}]',
      ',"padding":',
      '"padding":"',
      '0',
      'é',
      'text',
    ]
    const inner = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((all) => all.join(''))
    const start = { id: 'a', sequence: 1, choices: [{ delta: { content: 'Hello' } }], padding: 'p' }
    const [before, between] = [
      '{"id":"a","sequence":1,"choices":[{"delta":{"content":"',
      '"}}],"padding":',
    ]
    let recognized = 0
    fc.assert(
      fc.property(inner, inner, (content, padding) => {
        const json = `${before}${content}${between}${padding}}`
        const text = learned(JSON.stringify(start)).match(json)?.text
        if (text === undefined) return
        recognized++
        const { padding: _, ...value } = JSON.parse(json)
        const { padding: __, ...expected } = start
        expect(value).toEqual({ ...expected, choices: [{ delta: { content: text } }] })
      }),
      { numRuns: 5000 },
    )
    expect(recognized).toBeGreaterThan(10)
  })
})
