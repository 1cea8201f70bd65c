import fc from 'fast-check'
import { Tiktoken } from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type NodeTokenizer,
  nodeTokenizer,
  type TokenizerOptions,
} from '../../adapters/node/ports/tokenizer.ts'
import { splitText } from '../../adapters/node/tokenizer/pieces.ts'

function tokenizer(options: TokenizerOptions = {}): NodeTokenizer {
  const made = nodeTokenizer(options)
  onTestFinished(() => made.close())
  return made
}

/** A thread whose program is this. */
function program(text: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`)
}

const echo = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ texts }) => {
    if (texts[0] === 'crash') throw new Error('crash')
    parentPort.postMessage(texts.map((text) => text.length))
  })
`

describe('the thread counts', () => {
  const shared = nodeTokenizer()
  afterAll(() => shared.close())

  test.each([
    ['o200k_base', 'hello world', 2],
    ['cl100k_base', 'tiktoken is great!', 6],
    ['o200k_base', '', 0],
    // As text, and not as the one token that ends a text.
    ['cl100k_base', '<|endoftext|>', 7],
    ['o200k_base', '<|endoftext|>', 7],
    ['o200k_base', '你好,世界', 3],
    ['cl100k_base', '你好,世界', 6],
    ['o200k_base', '\ud800', 1],
  ] as const)('a text in %s, %j, counts as %i', async (encoding, text, tokens) => {
    expect(await shared.count(encoding, [text])).toEqual([tokens])
  })

  test('each text is counted separately, in order, with any number of calls at once', async () => {
    const counts = await Promise.all([
      shared.count('o200k_base', ['hello world', 'hello']),
      shared.count('cl100k_base', ['hello']),
    ])
    expect(counts).toEqual([[2, 1], [1]])
  })

  test('a count stops at its time limit and does not block the event loop', async () => {
    const { count } = tokenizer({ timeLimit: 100 })
    await count('o200k_base', ['the encoder is there'])
    const started = performance.now()
    const counting = count('o200k_base', ['a'.repeat(100_000)])
    const over = counting.then(() => true)
    const turn = () => new Promise<false>((resolve) => setImmediate(resolve, false))
    let turns = 0
    while (!(await Promise.race([over, turn()]))) turns++
    expect(await counting).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(turns).toBeGreaterThan(100)
    expect(await count('o200k_base', ['hello world'])).toEqual([2])
  })
})

describe('counts that resolve to undefined', () => {
  test('a crash of the thread loses only the current count', async () => {
    const { count } = tokenizer({ entry: program(echo) })
    const counts = ['crash', 'abc', 'crash', 'ab'].map((text) => count('o200k_base', [text]))
    expect(await Promise.all(counts)).toEqual([undefined, [3], undefined, [2]])
  })

  test('a thread that cannot start is given up after a few tries', async () => {
    const { count } = tokenizer({ entry: new URL('file:///nowhere/worker.js') })
    let threads = 0
    const started = () => threads++
    process.on('worker', started)
    onTestFinished(() => void process.off('worker', started))
    const counts = Array.from({ length: 10 }, () => count('o200k_base', ['a']))
    expect(await Promise.all(counts)).toEqual(counts.map(() => undefined))
    expect(await count('o200k_base', ['a'])).toBeUndefined()
    expect(threads).toBe(3)
  })

  test('a count is refused when too many wait', async () => {
    const { count } = tokenizer({ entry: program(echo), maxWaiting: 2 })
    const counts = ['a', 'ab', 'abc'].map((text) => count('o200k_base', [text]))
    expect(await Promise.all(counts)).toEqual([[1], [2], undefined])
  })

  test('a count is refused when too much text waits', async () => {
    const { count } = tokenizer({ entry: program(echo) })
    const half = 'a'.repeat(8 * 1024 * 1024)
    const counts = [half, half, 'a'].map((text) => count('o200k_base', [text]))
    expect(await Promise.all(counts)).toEqual([[half.length], [half.length], undefined])
    expect(await count('o200k_base', ['abc'])).toEqual([3])
  })

  test('after close, waiting and new counts resolve to undefined', async () => {
    const made = tokenizer({ entry: program(`setInterval(() => {}, 1000)`) })
    const waiting = [made.count('o200k_base', ['a']), made.count('o200k_base', ['b'])]
    made.close()
    expect(await Promise.all(waiting)).toEqual([undefined, undefined])
    expect(await made.count('o200k_base', ['c'])).toBeUndefined()
  })
})

describe('pieces', () => {
  const encoder = new Tiktoken(cl100k)
  const tokens = (text: string) => encoder.encode(text, [], []).length
  const prose = fc.array(
    fc.constantFrom(
      'the',
      "don't",
      'GPT',
      '42',
      'a,b',
      '\n\n',
      '  x',
      '—',
      'wörld',
      '你好。',
      '🙂',
    ),
    { minLength: 100, maxLength: 400 },
  )

  test('the counts of the pieces add up to the count of the whole', () => {
    fc.assert(
      fc.property(prose, (words) => {
        const text = words.join(' ')
        const pieces = [...splitText(text)]
        expect(pieces.length).toBeGreaterThan(1)
        expect(pieces.reduce((sum, piece) => sum + tokens(piece), 0)).toBe(tokens(text))
      }),
    )
  })

  test('a text is never split within a contraction', () => {
    for (let shift = 0; shift < 6; shift++) {
      const text = 'a'.repeat(shift) + " don't".repeat(60)
      expect([...splitText(text)].filter((piece) => piece.startsWith("'"))).toEqual([])
    }
  })

  test('the pieces are short and join to the text', () => {
    const text = fc.string({ unit: 'binary', minLength: 200, maxLength: 1_000 })
    fc.assert(
      fc.property(text, (whole) => {
        const pieces = [...splitText(whole)]
        expect(pieces.join('')).toBe(whole)
        expect(pieces.every(({ length }) => length > 0 && length <= 256)).toBe(true)
        expect(pieces.every((piece) => !/\p{Cs}/u.test(piece))).toBe(true)
      }),
    )
  })
})
