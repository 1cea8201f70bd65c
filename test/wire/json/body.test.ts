import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { CancelScope } from '../../../src/wire/cancel-scope.ts'
import { readJsonBody } from '../../../src/wire/json/body.ts'
import { scanLayout } from '../../../src/wire/json/scan.ts'
import { parseInSteps, strictUtf8 } from '../../../src/wire/json/steps.ts'
import { TimeSlice } from '../../../src/wire/time-slice.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

/** A text parsed in steps, cut at the first comma after so many bytes. */
function inSteps(text: string, stepBytes: number): Promise<unknown> {
  const bytes = utf8(text)
  const { cuts } = scanLayout(bytes, [], { stepBytes })
  return parseInSteps(bytes, cuts, { pause: async () => {} })
}

const space = fc.constantFrom('', '', '', ' ', '\n\t')
const scalar = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '-1.5e3', '12', '""', '"a,b"', '"[{:"', '"\\""'),
  fc.string({ unit: 'binary', maxLength: 8 }).map((value) => JSON.stringify(value)),
)
const key = fc.constantFrom(
  '"a"',
  '"b"',
  '"a"',
  '"\\u0061"',
  '"__proto__"',
  '"constructor"',
  '"0"',
  '"7"',
  '"é"',
)
const document = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'large' },
    scalar,
    fc
      .tuple(space, fc.array(tie('value'), { maxLength: 5 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    tie('object'),
  ),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }))
    .map(([gap, members]) => {
      const written = members.map(([name, value]) => `${name}${gap}:${gap}${value}`)
      return `{${gap}${written.join(`${gap},${gap}`)}}`
    }),
})).object

describe('parsing in steps', () => {
  test('parsing in steps gives the same value as parsing the whole text', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 1, max: 12 }), async (text, step) => {
        // As text, which shows the order of members and own ones called `__proto__`.
        expect(JSON.stringify(await inSteps(text, step))).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 3000 },
    )
  })

  test('parsing in steps rejects what parsing the whole text rejects', async () => {
    const broken = fc
      .tuple(document, fc.nat(), fc.constantFrom('', ',', ']', '}', '[', '{', '"', ':', '1', ',,'))
      .map(([text, place, patch]) => {
        const at = place % (text.length + 1)
        return `${text.slice(0, at)}${patch}${text.slice(at + 1)}`
      })
    await fc.assert(
      fc.asyncProperty(broken, fc.integer({ min: 1, max: 12 }), async (text, step) => {
        const whole = wholeOf(text)
        const pieces = await inSteps(text, step).then(
          (value) => JSON.stringify(value),
          () => 'refused',
        )
        expect(pieces).toBe(whole)
      }),
      { numRuns: 3000 },
    )
  })

  test.each(['[1,]', '{"a":1,}', '[ ,1]', '[1,,2]', '{"a":[1,2,  ]}', '{,"a":1}'])(
    'a comma without a value on both sides is refused: %s',
    async (text) => {
      await expect(inSteps(text, 1)).rejects.toThrow(SyntaxError)
    },
  )

  test('the test texts are really cut', () => {
    expect(scanLayout(utf8('{"a":[1,2,3]}'), [], { stepBytes: 1 }).cuts).toHaveLength(2)
    expect(scanLayout(utf8('{"a":[1,2,3]}'), []).cuts).toEqual([])
  })
})

function wholeOf(text: string): string {
  try {
    // As bytes, which hold no lone surrogates.
    return JSON.stringify(JSON.parse(strictUtf8.decode(utf8(text))))
  } catch {
    return 'refused'
  }
}

/** What a body is refused with; undefined when it is read. */
async function refusal(body: string | Uint8Array): Promise<string | undefined> {
  const clock = new ManualClock()
  const pace = new TimeSlice(clock, new CancelScope(clock))
  const bytes = typeof body === 'string' ? utf8(body) : body
  try {
    await readJsonBody(bytes, { names: [], unique: [], timeSlice: pace })
    return undefined
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'LM-1001') return error.message
    throw error
  }
}

const tooMany = 'the request body holds more than 200000 objects, arrays and members'

describe('a body holds at most 200,000 values', () => {
  const filled = (item: string, count: number) => `{"x":[${Array(count).fill(item).join()}]}`
  // The object, its member and the array are three.
  test.each([
    ['objects', '{}', 199_997],
    ['arrays', '[]', 199_997],
    ['members', '{"a":1}', 99_998],
    ['texts in an array', '"a"', 199_997],
    ['true, false and null in an array', 'null', 199_997],
  ])('%s count as values', async (_, item, count) => {
    expect(await refusal(filled(item, count))).toBeUndefined()
    expect(await refusal(filled(item, count + 1))).toBe(tooMany)
  })

  test('members of the body itself count as values', async () => {
    const members = (count: number) =>
      `{${Array.from({ length: count }, (_, at) => `"k${at}":true`).join()}}`
    expect(await refusal(members(199_999))).toBeUndefined()
    expect(await refusal(members(200_000))).toBe(tooMany)
  })

  test('plain numbers in an array do not count as values', async () => {
    expect(await refusal(filled('-1.5e3', 1_000_000))).toBeUndefined()
    expect(await refusal(`{"x":[${filled('7', 1_000_000).slice(5, -1)}]}`)).toBeUndefined()
  })

  test('characters inside a string do not count as values', async () => {
    expect(await refusal(JSON.stringify({ x: '[{},"a":'.repeat(200_000) }))).toBeUndefined()
  })
})

describe('a long body', () => {
  const long = (last: string) => `{"x":[${'"é",'.repeat(150_000)}${last}]}`

  test('a long body of valid JSON is parsed', async () => {
    expect(await refusal(long('1'))).toBeUndefined()
  })

  test('a long body with an error at its end is rejected like a short one', async () => {
    expect(await refusal(long('1]'))).toBe('the request body is not valid JSON')
    expect(await refusal(long('1').slice(0, -1))).toBe('the request body is not valid JSON')
  })

  test('a long body with invalid UTF-8 at its end is rejected like a short one', async () => {
    const bytes = utf8(long('"?"'))
    bytes[bytes.lastIndexOf(0x3f)] = 0xff
    expect(await refusal(bytes)).toBe('the request body is not valid UTF-8')
  })
})
