import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchMessages } from '../../../src/doors/messages/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { messagesMatch } from '../../fuzz/targets/matched.ts'
import { testMatching, writtenRequests } from '../../support/matching.ts'

const prose = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const names = fc.stringMatching(/^[a-z_]{1,12}$/)
const cache = maybe(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }))
const type = <Name extends string>(name: Name) => fc.constant(name)

/** As Claude signs, some with escaped slashes. */
const proof = fc.base64String().map((signed) => `E${signed}`)

const text = fc.record({ type: type('text'), text: prose, cache_control: cache })
const input = fc.dictionary(names, fc.oneof(prose, fc.double(), fc.constant([1, { a: null }])))
const block = fc.oneof(
  text,
  fc.record({ type: type('thinking'), thinking: prose, signature: proof }),
  fc.record({ type: type('redacted_thinking'), data: proof }),
  fc.record({ type: type('tool_use'), id: fc.string(), name: prose, input, cache_control: cache }),
  fc.record({
    // Claude Code writes the id first.
    tool_use_id: fc.string(),
    type: type('tool_result'),
    content: fc.oneof(prose, fc.array(text, { maxLength: 2 })),
    is_error: maybe(fc.boolean()),
  }),
)
const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(prose, fc.array(block, { maxLength: 4 })),
})
const tool = fc.record({ name: names, description: prose, input_schema: input })

/** Requests as SDKs and agents write them. */
const requests = writtenRequests(
  fc.record({
    model: fc.string({ minLength: 1 }),
    max_tokens: fc.integer({ min: 0, max: 1e6 }),
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    system: maybe(fc.oneof(prose, fc.array(text, { maxLength: 2 }))),
    stream: maybe(fc.boolean()),
    temperature: maybe(fc.integer()),
    thinking: maybe(fc.constant({ type: 'enabled', budget_tokens: 1024 })),
    tools: maybe(fc.array(tool, { maxLength: 3 })),
    tool_choice: maybe(fc.constant({ type: 'auto' })),
    metadata: maybe(fc.dictionary(fc.string(), fc.string())),
  }),
)

const withBlock = (json: string) =>
  `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[${json}]}]}`

describe('a Messages request that is not parsed', () => {
  testMatching({ requests, match: matchMessages, target: messagesMatch })

  test.each([
    ['an image', '{"type":"image","source":{"type":"url","url":"https://a.test/a.png"}}'],
    ['an image in a result', '{"type":"tool_result","content":[{"type":"image"}]}'],
    ['a document', '{"type":"document","source":{"type":"text","data":"Hi"}}'],
    ['a type behind other members', '{"text":"Hi","type":"text"}'],
    ['a block without a type', '{"id":"Hi"}'],
    ['an escape in a type', '{"type":"im\\u0061ge"}'],
    ['a repeated type', '{"type":"text","type":"image"}'],
    ['a call without input', '{"type":"tool_use","name":"f"}'],
    ['a repeated member of an input', '{"type":"tool_use","name":"f","input":{"a":1,"a":22}}'],
    ['a proof of the gateway', '{"type":"thinking","thinking":"","signature":"gateway-1.AA"}'],
    ['thinking with an empty signature', '{"type":"thinking","thinking":"","signature":""}'],
    ['thinking without a signature', '{"type":"thinking","thinking":""}'],
    ['a hidden proof', '{"type":"thinking","signature":"gatew\\u0061y-1.AA"}'],
    ['a proof without text', '{"type":"redacted_thinking","data":"gateway-1.AA"}'],
  ])('parses a request with %s', (_, json) => {
    expect(matchMessages(toBytes(withBlock(json)), isUtf8)).toBeUndefined()
  })
})
