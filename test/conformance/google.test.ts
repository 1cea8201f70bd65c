import { expect, test } from 'vitest'
import { upstreamKey } from '../../scripts/conformance/upstream/dialect.ts'
import { google } from '../../scripts/conformance/upstream/google/dialect.ts'

/*
 * The upstream that plays Google takes what Google takes: proto3 in JSON, with names in two spellings and bytes in
 * two alphabets.
 */

interface Call {
  readonly thoughtSignature?: string
  readonly functionCall?: { readonly id: string; readonly name: string }
}

const parameters = {
  type: 'OBJECT',
  properties: { any_of: { type: 'STRING', max_length: 9 } },
  property_ordering: ['any_of'],
}
const tools = [{ function_declarations: [{ name: 'weather', parameters }] }]
const question = { role: 'user', parts: [{ text: 'What is the weather?' }] }

function send(body: object) {
  const reply = google.handle({
    path: '/v1beta/models/gemini-3-pro--tool:generateContent',
    query: new URLSearchParams(),
    headers: new Headers({ 'x-goog-api-key': upstreamKey }),
    body,
  })
  if (reply.kind !== 'whole') throw new Error('not a whole answer')
  return reply
}

/** A call of the model, and its signature. */
function call() {
  const { body } = send({ contents: [question], tools })
  const { candidates } = body as { candidates: [{ content: { parts: Call[] } }] }
  const found = candidates[0].content.parts.find(({ functionCall }) => functionCall)
  if (!found?.thoughtSignature || !found.functionCall) throw new Error('no call')
  return { signature: found.thoughtSignature, name: found.functionCall.name }
}

const standard = (signature: string) => signature
const urlSafe = (signature: string) => signature.replaceAll('+', '-').replaceAll('/', '_')

function toBody(signature: string, name: string) {
  const response = { function_response: { name, response: { some_key: 'sunny' } } }
  const picture = { inline_data: { mime_type: 'image/png', data: 'AAEC-_8' } }
  return {
    contents: [
      question,
      { role: 'model', parts: [{ function_call: { name }, thought_signature: signature }] },
      { role: 'user', parts: [response, picture] },
    ],
    tools,
    generation_config: { max_output_tokens: 100 },
  }
}

test.each([
  ['as it was', standard],
  ['in the other alphabet', urlSafe],
  ['without its padding', (signature: string) => urlSafe(signature).replace(/=+$/, '')],
])('a snake-case request with a signature %s is served', (_, change) => {
  // Signatures are random: among so many, some have letters of which the alphabets differ.
  for (let round = 0; round < 20; round++) {
    const { signature, name } = call()
    expect(JSON.stringify(send(toBody(change(signature), name)).body)).toContain('sunny')
  }
})

test('a signature that was changed is refused', () => {
  const { signature, name } = call()
  const altered = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
  expect(() => send(toBody(altered, name))).toThrow('Thought signature is not valid.')
})

test('a name that Google does not know is refused', () => {
  expect(() => send({ contents: [question], maximum_tokens: 1 })).toThrow(/unrecognized/i)
})
