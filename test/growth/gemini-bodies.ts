import { encodeSignature } from '../../src/doors/gemini/signatures.ts'
import type { MakeBody } from './bodies.ts'

/*
 * Bodies of the Gemini API that have one thing many times.
 */

function times<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: Math.ceil(count) }, (_, at) => make(at))
}

const text = { text: 'x' }
const user = { role: 'user', parts: [text] }
const ask = (...contents: object[]) => ({ contents: [user, ...contents] })
const model = (parts: readonly object[]) => ({ role: 'model', parts })
const call = (at: number) => ({ functionCall: { name: `f${at}`, args: {} } })
const result = (at: number) => ({ functionResponse: { name: `f${at}`, response: { a: 'x' } } })
const withId = (at: number) => ({ functionCall: { id: `c${at}`, name: 'f', args: {} } })
const resultOfId = (at: number) => ({
  functionResponse: { id: `c${at}`, name: 'f', response: { a: 'x' } },
})
const blob = { inlineData: { mimeType: 'image/png', data: 'QUJD' } }
const declare = (at: number, parameters: object = { type: 'OBJECT' }) => ({
  name: `f${at}`,
  parameters,
})
const properties = (count: number, make: (at: number) => object) => ({
  type: 'OBJECT',
  properties: Object.fromEntries(times(count, (at) => [`k${at}`, make(at)])),
})
const withSchema = (parameters: object) => ({
  ...ask(),
  tools: [{ functionDeclarations: [declare(0, parameters)] }],
})
const signed = (proof: object) => encodeSignature({ model: 'openai', ...proof }) ?? ''

/** Bodies by what they have many times. */
export const geminiBodies: Readonly<Record<string, MakeBody>> = {
  contents: (count) => ask(...times(count, (at) => ({ ...user, role: at % 2 ? 'user' : 'model' }))),
  'contents of one role': (count) => ask(...times(count, () => user)),
  parts: (count) => ask({ role: 'user', parts: times(count, () => text) }),
  'parts of an answer': (count) => ask(model(times(count, () => text)), user),
  'parts of the system': (count) => ({
    ...ask(),
    systemInstruction: { parts: times(count, () => text) },
  }),
  'contents of one part': (count) => ask(...times(count, () => ({ role: 'user', parts: text }))),
  thoughts: (count) => ask(model(times(count, () => ({ text: 'x', thought: true }))), user),
  calls: (count) =>
    ask(model(times(count / 2, call)), { role: 'user', parts: times(count / 2, result) }),
  'calls with ids': (count) =>
    ask(model(times(count / 2, withId)), { role: 'user', parts: times(count / 2, resultOfId) }),
  'calls of one name': (count) =>
    ask(model(times(count / 2, () => call(0))), {
      role: 'user',
      parts: times(count / 2, () => result(0)),
    }),
  'results in another order': (count) =>
    ask(model(times(count / 2, call)), {
      role: 'user',
      parts: times(count / 2, (at) => result(Math.ceil(count / 2) - 1 - at)),
    }),
  'results without calls': (count) => ask({ role: 'user', parts: times(count, result) }),
  'rounds of calls': (count) =>
    ask(
      ...times(count / 2, (at) => [
        model([call(at)]),
        { role: 'user', parts: [result(at)] },
      ]).flat(),
    ),
  'members of arguments': (count) =>
    ask(
      model([
        {
          functionCall: {
            name: 'f',
            args: Object.fromEntries(times(count, (at) => [`k${at}`, 'x'])),
          },
        },
      ]),
      user,
    ),
  'results of images': (count) =>
    ask(model([call(0)]), {
      role: 'user',
      parts: [{ functionResponse: { name: 'f0', response: {}, parts: times(count, () => blob) } }],
    }),
  images: (count) => ask({ role: 'user', parts: times(count, () => blob) }),
  files: (count) =>
    ask({
      role: 'user',
      parts: times(count, () => ({
        fileData: { mimeType: 'application/pdf', fileUri: 'https://x.test/a.pdf' },
      })),
    }),
  'parts in the other spelling': (count) =>
    ask(
      model(
        times(count, (at) => ({
          function_call: { name: `f${at}`, args: {} },
          thought_signature: 'c2ln',
        })),
      ),
      user,
    ),
  'members that are unknown': (count) =>
    ask({
      role: 'user',
      parts: [{ text: 'x', ...Object.fromEntries(times(count, (at) => [`a_b_${at}`, 1])) }],
    }),
  'settings of media': (count) =>
    ask({ role: 'user', parts: times(count, () => ({ ...blob, videoMetadata: { fps: 1 } })) }),
  'signed parts': (count) =>
    ask(model(times(count, () => ({ text: 'x', thoughtSignature: 'c2ln' }))), user),
  'own signatures': (count) =>
    ask(model(times(count, () => ({ text: 'x', thoughtSignature: signed({}) }))), user),
  'own signatures of calls': (count) =>
    ask(
      model(
        times(count / 2, (at) => ({
          ...withId(at),
          thoughtSignature: signed({
            calls: [{ id: `c${at}`, extra: { google: { thought_signature: 'c2ln' } } }],
          }),
        })),
      ),
      user,
    ),
  'own signatures of thinking': (count) =>
    ask(
      model(
        times(count / 1000, () => ({
          text: 'x',
          thoughtSignature: signed({
            thinking: times(1000, () => ({ type: 'thinking', thinking: 'x', signature: 's' })),
          }),
        })),
      ),
      user,
    ),
  functions: (count) => ({
    ...ask(),
    tools: [{ functionDeclarations: times(count, (at) => declare(at)) }],
  }),
  'tools of one function': (count) => ({
    ...ask(),
    tools: times(count, (at) => ({ functionDeclarations: [declare(at)] })),
  }),
  'unknown tools': (count) => ({ ...ask(), tools: times(count, (at) => ({ [`tool${at}`]: {} })) }),
  'allowed functions': (count) => ({
    ...ask(),
    tools: [{ functionDeclarations: times(count / 2, (at) => declare(at)) }],
    toolConfig: {
      functionCallingConfig: {
        mode: 'ANY',
        allowedFunctionNames: times(count / 2, (at) => `f${at}`),
      },
    },
  }),
  'a schema of properties': (count) =>
    withSchema(properties(count, () => ({ type: 'STRING', nullable: true }))),
  'a schema of enum values': (count) =>
    withSchema(properties(1, () => ({ type: 'STRING', enum: times(count, (at) => `v${at}`) }))),
  'a schema of branches': (count) =>
    withSchema(
      properties(1, () => ({ anyOf: times(count, (at) => ({ type: 'STRING', title: `${at}` })) })),
    ),
  'a strict schema of properties': (count) => ({
    ...withSchema({
      ...properties(count / 2, () => ({ type: 'STRING' })),
      required: times(count / 2, (at) => `k${at}`),
    }),
    toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
  }),
  'an answer schema of properties': (count) => ({
    ...ask(),
    generationConfig: {
      responseMimeType: 'application/json',
      responseSchema: properties(count, () => ({ type: 'STRING' })),
    },
  }),
  'stop sequences': (count) => ({
    ...ask(),
    generationConfig: { stopSequences: times(count, (at) => `s${at}`) },
  }),
  modalities: (count) => ({
    ...ask(),
    generationConfig: { responseModalities: times(count, () => 'TEXT') },
  }),
  'safety settings': (count) => ({
    ...ask(),
    safetySettings: times(count, () => ({ category: 'A', threshold: 'B' })),
  }),
}
