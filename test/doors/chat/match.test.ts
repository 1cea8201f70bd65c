import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchChat } from '../../../src/doors/chat/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { chatMatch } from '../../fuzz/targets/matched.ts'
import { testMatching, writtenRequests } from '../../support/matching.ts'

const words = fc.string({ unit: 'binary', maxLength: 40 })
const prose = fc.oneof(
  words,
  fc.constantFrom('', 'Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })

const part = fc.record({
  type: fc.constant('text'),
  text: prose,
  cache_control: maybe(fc.constant({ type: 'ephemeral' })),
})
const toolCall = fc.record({
  id: fc.string(),
  type: fc.constant('function'),
  function: fc.record({ name: fc.string(), arguments: prose }),
})
const message = fc.record({
  role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'),
  content: orNull(fc.oneof(prose, fc.array(part, { maxLength: 3 }))),
  name: maybe(prose),
  tool_calls: maybe(fc.array(toolCall, { maxLength: 3 })),
  tool_call_id: maybe(fc.string()),
  reasoning_content: maybe(prose),
})
const names = fc.stringMatching(/^[a-z_]{1,12}$/)
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({
    name: names,
    description: prose,
    parameters: fc.dictionary(names, fc.jsonValue({ noUnicodeString: false, maxDepth: 0 })),
  }),
})
const bound = maybe(orNull(fc.integer({ min: 1, max: 1e6 })))

/** Requests as SDKs write them. */
const requests = writtenRequests(
  fc.record({
    model: fc.string({ minLength: 1 }),
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    stream: maybe(orNull(fc.boolean())),
    stream_options: maybe(orNull(fc.record({ include_usage: fc.boolean() }))),
    max_tokens: bound,
    max_completion_tokens: bound,
    n: bound,
    temperature: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
    logprobs: maybe(fc.boolean()),
    tools: maybe(fc.array(tool, { maxLength: 3 })),
    response_format: maybe(fc.jsonValue()),
    metadata: maybe(fc.dictionary(fc.string(), fc.string())),
  }),
)

const withMembers = (members: string) => `{"model":"m",${members}}`
const withMessage = (members: string) => withMembers(`"messages":[{"role":"user",${members}}]`)
const withTool = (json: string) => withMembers(`"messages":[{"role":"user"}],"tools":[${json}]`)

describe('a chat request that is not parsed', () => {
  testMatching({ requests, match: matchChat, target: chatMatch })

  test.each([
    ['an image', withMessage('"content":[{"type":"image_url","image_url":{"url":"data:,"}}]')],
    ["a vendor's own blocks", withMessage('"provider_content":[]')],
    ['arguments that are an object', withMessage('"tool_calls":[{"function":{"arguments":{}}}]')],
    ['an escape in a key', withMessage('"cont\\u0065nt":"Hi"')],
    ['an escape in another key', withMessage('"\\u0061":"Hi"')],
    ['a member in another letter case', withMessage('"Content":"Hi"')],
    [
      'a key that some parsers fold to a member',
      withMembers('"messages":[{"role":"user"}],"ſtream":true'),
    ],
    ['a repeated member', withMessage('"content":"Hi","content":"Ho"')],
    ['a repeated member of a tool', withTool('{"a":1,"a":2}')],
    ['an escape in a key of a tool', withTool('{"\\u0061":1}')],
    ['a message without a role', withMembers('"messages":[{"content":"Hi"}]')],
    ['no messages', withMembers('"messages":[]')],
    ['no model', '{"messages":[{"role":"user"}]}'],
    ['an empty model', '{"model":"","messages":[{"role":"user"}]}'],
    ['a choice too few', withMembers('"messages":[{"role":"user"}],"n":0')],
    ['a bound in a text', withMembers('"messages":[{"role":"user"}],"max_tokens":"1"')],
    ['a byte order mark', `\uFEFF${withMessage('"content":"Hi"')}`],
    ['text after the object', `${withMessage('"content":"Hi"')}x`],
    ['a control character in a text', withMessage('"content":"a\u0001"')],
    ['a nesting of more than 128', withMessage(`"a":${'['.repeat(126)}${']'.repeat(126)}`)],
  ])('parses a request with %s', async (_, body) => {
    expect(matchChat(toBytes(body), isUtf8)).toBeUndefined()
  })

  test('parses a request that is not UTF-8', () => {
    const bytes = toBytes(withMessage('"content":"é"'))
    bytes[bytes.indexOf(0xc3)] = 0xc0
    expect(matchChat(bytes, isUtf8)).toBeUndefined()
  })

  test('does not parse a tool whose keys differ', () => {
    expect(matchChat(toBytes(withTool('{"a":1,"b":{"a":2}}')), isUtf8)).toBeDefined()
  })

  test('does not parse a nesting of 128', () => {
    const body = withMessage(`"a":${'['.repeat(125)}${']'.repeat(125)}`)
    expect(matchChat(toBytes(body), isUtf8)).toBeDefined()
  })
})
