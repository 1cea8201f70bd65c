import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRandom, mutate } from '../../../scripts/fuzz/mutate.ts'
import { matchResponses } from '../../../src/doors/responses/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { responsesMatch } from '../../fuzz/targets/matched.ts'
import { jsonStyles, writeJson } from '../../support/json-styles.ts'

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
    encrypted_content: orNull(encrypted),
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
const requests = fc
  .record({
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
  })
  .chain((request) =>
    fc.tuple(fc.shuffledSubarray(Object.entries(request), { minLength: 12 }), jsonStyles),
  )
  .map(([members, style]) => toBytes(writeJson(Object.fromEntries(members), style)))

const withMembers = (members: string) => `{"model":"m",${members}}`
const withItem = (members: string) => withMembers(`"input":[{${members}}]`)

describe('a Responses request that is not parsed', () => {
  test('every ordinary request is read without parsing, with the facts of the parsed one', async () => {
    let matched = 0
    const numRuns = 1_000
    await fc.assert(
      fc.asyncProperty(requests, async (bytes) => {
        if (matchResponses(bytes, isUtf8)) matched++
        await responsesMatch.check(bytes)
      }),
      { numRuns },
    )
    expect(matched).toBe(numRuns)
  })

  test('whatever is read without parsing, the parser and the schema accept with the same facts', async () => {
    const corpus = [...fc.sample(requests, 300), ...responsesMatch.seeds.map(toBytes)]
    const material = { corpus, words: responsesMatch.words.map(toBytes), maxBytes: 20_000 }
    const random = createRandom(fc.sample(fc.integer(), 1)[0] ?? 1)
    let matched = 0
    for (let run = 0; run < 15_000; run++) {
      const bytes = mutate(material, random)
      if (matchResponses(bytes, isUtf8)) matched++
      await responsesMatch.check(bytes)
    }
    // Most changes leave the JSON broken; those in texts do not.
    expect(matched).toBeGreaterThan(200)
    expect(matched).toBeLessThan(14_000)
  })

  test.each([
    ['an image', withItem('"role":"user","content":[{"type":"input_image","image_url":"data:,"}]')],
    ['an image in a result', withItem('"type":"x","output":[{"type":"input_image"}]')],
    ['a part without a type', withItem('"role":"user","content":[{"text":"Hi"}]')],
    ['a type behind the text', withItem('"role":"user","content":[{"text":"","type":"text"}]')],
    ['reasoning of the gateway', withItem('"type":"reasoning","encrypted_content":"gateway-1.AA"')],
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
