import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchCompletion } from '../../../src/doors/completions/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { completionMatch } from '../../fuzz/targets/matched.ts'
import { testMatching, writtenRequests } from '../../support/matching.ts'

const prose = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const count = maybe(orNull(fc.integer({ min: 1, max: 9 })))
const bound = maybe(orNull(fc.integer({ min: 0, max: 1e6 })))

/** Requests as SDKs and code editors write them. */
const requests = writtenRequests(
  fc.record({
    model: fc.string({ minLength: 1 }),
    prompt: maybe(orNull(fc.oneof(prose, fc.array(prose, { minLength: 1, maxLength: 4 })))),
    suffix: maybe(orNull(prose)),
    stream: maybe(orNull(fc.boolean())),
    stream_options: maybe(orNull(fc.record({ include_usage: fc.boolean() }))),
    max_tokens: bound,
    max_completion_tokens: bound,
    n: count,
    best_of: count,
    temperature: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
    stop: maybe(fc.array(prose, { maxLength: 3 })),
    logprobs: maybe(fc.integer({ min: 0, max: 5 })),
  }),
)

const withMembers = (members: string) => `{"model":"m",${members}}`

describe('a text completion request that is not parsed', () => {
  testMatching({ requests, match: matchCompletion, target: completionMatch })

  test.each([
    ['token ids', withMembers('"prompt":[1,2]')],
    ['lists of token ids', withMembers('"prompt":[[1],[2]]')],
    ['no prompts', withMembers('"prompt":[]')],
    ['a prompt that is an object', withMembers('"prompt":{}')],
    ['a repeated prompt', withMembers('"prompt":"a","prompt":"b"')],
    ['a bound below 0', withMembers('"prompt":"a","max_tokens":-1')],
    ['tries in another letter case', withMembers('"prompt":"a","Best_Of":2')],
    ['no model', '{"prompt":"a"}'],
  ])('parses a request with %s', (_, body) => {
    expect(matchCompletion(toBytes(body), isUtf8)).toBeUndefined()
  })
})
