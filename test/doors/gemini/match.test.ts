import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchGemini } from '../../../src/doors/gemini/match.ts'
import { toBytes } from '../../fuzz/target.ts'
import { geminiMatch, ownSignature } from '../../fuzz/targets/matched-gemini.ts'
import { testMatching, writtenRequests } from '../../support/matching.ts'

const prose = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const names = fc.stringMatching(/^[a-z_]{1,12}$/)
const args = fc.dictionary(names, fc.oneof(prose, fc.double(), fc.constant([1, { a: null }])))

/** As Gemini signs. */
const signature = maybe(fc.base64String({ minLength: 1 }).map((signed) => `Cs${signed}`))

const part = fc.oneof(
  fc.record({ text: prose, thought: maybe(fc.boolean()), thoughtSignature: signature }),
  fc.record({
    functionCall: fc.record({ id: maybe(prose), name: prose, args }),
    thoughtSignature: signature,
  }),
  fc.record({ functionResponse: fc.record({ id: maybe(prose), name: prose, response: args }) }),
  fc.record({ executableCode: fc.record({ language: prose, code: prose }) }),
)
const content = fc.record({
  role: maybe(fc.constantFrom('user', 'model')),
  parts: fc.array(part, { maxLength: 4 }),
})
const declaration = fc.record({ name: names, description: prose, parameters: args })

/** Requests as SDKs and Gemini CLI write them. */
const requests = writtenRequests(
  fc.record({
    contents: fc.array(content, { minLength: 1, maxLength: 6 }),
    systemInstruction: maybe(fc.oneof(prose, content)),
    tools: maybe(
      fc.array(
        fc.oneof(
          fc.record({ functionDeclarations: fc.array(declaration, { maxLength: 3 }) }),
          fc.constant({ googleSearch: {} }),
        ),
        { maxLength: 2 },
      ),
    ),
    toolConfig: maybe(fc.constant({ functionCallingConfig: { mode: 'AUTO' } })),
    generationConfig: maybe(
      fc.record({
        temperature: maybe(fc.integer()),
        topK: maybe(fc.integer()),
        maxOutputTokens: maybe(fc.oneof(fc.nat(), fc.constant('100'))),
        candidateCount: maybe(fc.integer({ min: 1, max: 8 })),
        thinkingConfig: maybe(fc.constant({ include_thoughts: true, thinkingBudget: -1 })),
      }),
    ),
    safetySettings: maybe(fc.constant([])),
    labels: maybe(fc.dictionary(fc.string(), fc.string())),
    store: maybe(fc.boolean()),
  }),
)

const withPart = (json: string) => `{"contents":[{"role":"user","parts":[${json}]}]}`
const withMember = (json: string) => `{"contents":[{"parts":[{"text":"Hi"}]}],${json}}`

describe('a Gemini request that is not parsed', () => {
  testMatching({ requests, match: matchGemini, target: geminiMatch })

  test.each([
    ['an image', withPart('{"inlineData":{"mimeType":"image/png","data":"AA"}}')],
    ['a file', withPart('{"fileData":{"fileUri":"gs://a/a.png"}}')],
    ['media in another spelling', withPart('{"inline_data":{"mime_type":"image/png"}}')],
    ['media in a result', withPart('{"functionResponse":{"response":{},"parts":[]}}')],
    ['a result without a response', withPart('{"functionResponse":{"name":"f"}}')],
    ['a call without arguments', withPart('{"functionCall":{"name":"f"}}')],
    ['a repeated member of arguments', withPart('{"functionCall":{"args":{"a":1,"a":22}}}')],
    ['a call in another spelling', withPart('{"function_call":{"name":"f","args":{}}}')],
    ['a signature of the gateway', withPart(`{"thoughtSignature":"${ownSignature}"}`)],
    ['a hidden one', withPart(`{"thoughtSignature":"\\u005a${ownSignature.slice(1)}"}`)],
    ['one in another spelling', withPart(`{"thought_signature":"${ownSignature}"}`)],
    ['a hidden part', withPart('{"inlineD\\u0061ta":{"mimeType":"image/png"}}')],
    ['a text for its contents', '{"contents":"Hi"}'],
    ['a bound in another spelling', withMember('"generationConfig":{"max_output_tokens":1}')],
    [
      'a repeated bound',
      withMember('"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":2}'),
    ],
    ['settings in another spelling', withMember('"generation_config":{}')],
    ['repeated settings', withMember('"generationConfig":{},"generationConfig":{}')],
    ['settings of another type', withMember('"generationConfig":{"temperature":true}')],
    ['a request to count', withMember('"generateContentRequest":{}')],
  ])('parses a request with %s', (_, json) => {
    expect(matchGemini(toBytes(json), isUtf8)).toBeUndefined()
  })
})
