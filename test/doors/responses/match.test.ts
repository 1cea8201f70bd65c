import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchResponses } from '../../../src/doors/responses/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { responsesMatch } from '../../fuzz/targets/matched.ts'
import { testMatching, writtenRequests } from '../../support/matching.ts'

const prose = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const names = fc.stringMatching(/^[a-z_]{1,12}$/)
const type = <Name extends string>(...name: Name[]) => fc.constantFrom(...name)
const json = fc.dictionary(names, fc.oneof(prose, fc.double(), fc.constant([1, { a: null }])))

const part = fc.oneof(
  fc.record({ type: type('input_text', 'output_text'), text: prose }),
  fc.record({ type: type('refusal'), refusal: prose }),
  fc.record({ type: type('input_file'), filename: prose, file_data: fc.base64String() }),
)
const content = fc.oneof(prose, fc.array(part, { maxLength: 3 }))
const callId = fc.string()

/** As OpenAI encrypts, some with escaped slashes. */
const encrypted = fc.base64String().map((text) => `gAAA${text}`)
const item = fc.oneof(
  fc.record({ type: maybe(type('message')), role: type('user', 'assistant'), content }),
  fc.record({
    type: type('reasoning'),
    id: fc.string(),
    summary: fc.array(fc.record({ type: type('summary_text'), text: prose }), { maxLength: 2 }),
    encrypted_content: encrypted,
  }),
  fc.record({ type: type('function_call'), call_id: callId, name: names, arguments: prose }),
  fc.record({ type: type('function_call_output'), call_id: callId, output: content }),
  fc.record({ type: type('custom_tool_call'), call_id: callId, name: names, input: prose }),
  fc.record({ type: type('tool_search_call'), execution: type('client'), arguments: json }),
  fc.record({ type: type('web_search_call'), action: json }),
)
const tool = fc.oneof(
  fc.record({ type: type('function'), name: names, description: prose, parameters: json }),
  fc.record({ type: type('web_search') }),
)

/** Requests as SDKs and agents write them. */
const requests = writtenRequests(
  fc.record({
    model: fc.string({ minLength: 1 }),
    input: maybe(orNull(fc.oneof(prose, fc.array(item, { minLength: 1, maxLength: 6 })))),
    instructions: maybe(orNull(prose)),
    stream: maybe(orNull(fc.boolean())),
    max_output_tokens: maybe(orNull(fc.integer({ min: 1, max: 1e6 }))),
    tools: maybe(fc.array(tool, { maxLength: 3 })),
    tool_choice: maybe(fc.constantFrom('auto', { type: 'function', name: 'f' })),
    reasoning: maybe(fc.constant({ effort: 'low', summary: 'auto' })),
    text: maybe(json),
    include: maybe(fc.constant(['reasoning.encrypted_content'])),
    metadata: maybe(fc.dictionary(fc.string(), fc.string())),
    store: maybe(fc.boolean()),
  }),
)

const withMembers = (members: string) => `{"model":"m",${members}}`
const withItem = (members: string) => withMembers(`"input":[{${members}}]`)

describe('a Responses request that is not parsed', () => {
  testMatching({ requests, match: matchResponses, target: responsesMatch })

  test.each([
    ['an image', withItem('"role":"user","content":[{"type":"input_image","image_url":"data:,"}]')],
    ['an image in a result', withItem('"type":"x","output":[{"type":"input_image"}]')],
    ['a part without a type', withItem('"role":"user","content":[{"text":"Hi"}]')],
    ['a type behind the text', withItem('"role":"user","content":[{"text":"","type":"text"}]')],
    ['reasoning of the gateway', withItem('"type":"reasoning","encrypted_content":"gateway-1.AA"')],
    ['reasoning that is text', withItem('"type":"reasoning","id":"r","summary":[]')],
    ['reasoning without its content', withItem('"summary":[],"encrypted_content":null')],
    ['hidden reasoning', withItem('"type":"reasoning","encrypted_content":"gatew\\u0061y-1.AA"')],
    ['an item that is a text', withMembers('"input":["Hi"]')],
    ['a text that is a number', withItem('"type":"function_call","name":1')],
    ['a repeated member of arguments', withItem('"arguments":{"a":1,"a":2}')],
    ['a repeated input', withMembers('"input":"Hi","input":"Ho"')],
    ['a bound in another letter case', withMembers('"input":"Hi","Max_Output_Tokens":1')],
    ['a bound of 0', withMembers('"input":"Hi","max_output_tokens":0')],
    ['no model', '{"input":"Hi"}'],
  ])('parses a request with %s', (_, body) => {
    expect(matchResponses(toBytes(body), isUtf8)).toBeUndefined()
  })
})
