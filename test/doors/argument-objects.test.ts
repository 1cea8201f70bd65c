import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completion, done, makeChunk } from '../support/answers.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { stream, whole } from '../support/scripted-upstream.ts'

/* Upstreams that send the arguments of a call as an object: the client gets its text as the upstream wrote it. */

const toml = `
[[providers]]
name = "p"
kind = "ollama"
base_url = "http://up.test/v1"
models = [{ id = "m" }]
`

const marker = '"ARGUMENTS"'

/** Texts of objects that parsing and writing them again would change. */
const objects = [
  '{"id":12345678901234567890}',
  '{"id":1.0,"n":-0,"e":1E400}',
  '{"2":1,"1":2}',
  '{"a":{"b":[9007199254740993,{"c":1e2}]},"s":"a b\\u0041"}',
  '{}',
]

function toCalls(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'f', arguments: 'ARGUMENTS' },
  }))
}

function fill(text: string, given: readonly string[]): string {
  let next = 0
  return text.replaceAll(marker, () => given[next++] as string)
}

/** An answer with these calls. */
function answer(given: readonly string[], isStream: boolean) {
  const calls = toCalls(given.length)
  if (!isStream) {
    const message = { role: 'assistant', content: null, tool_calls: calls }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    return whole(fill(JSON.stringify(completion('', { choices })), given))
  }
  const delta = { role: 'assistant', content: '', tool_calls: calls }
  const first = makeChunk({ choices: [{ index: 0, delta, finish_reason: null }] })
  const last = makeChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  return stream([fill(first, given) + last + done])
}

interface Door {
  readonly path: string
  readonly body: object
  /** Reads the arguments of the calls from the client's bytes. */
  readonly read: (text: string, isStream: boolean) => readonly string[]
}

const messages = [{ role: 'user', content: 'Hi' }]
const schema = { type: 'object', properties: {} }
const doors: readonly Door[] = [
  {
    path: '/v1/messages',
    body: { messages, max_tokens: 64, tools: [{ name: 'f', input_schema: schema }] },
    read: (text, isStream) =>
      isStream
        ? text
            .split('"type":"tool_use"')
            .slice(1)
            .map(
              (call) =>
                [...call.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)]
                  .map(([, piece]) => JSON.parse(piece as string) as string)
                  .join('') || '{}',
            )
        : [...text.matchAll(/"input":(\{.*?\})\}(?=,\{"type":"tool_use"|\])/g)].map(
            ([, input]) => input as string,
          ),
  },
  {
    path: '/v1/responses',
    body: { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: schema }] },
    read: (text, isStream) => {
      const response = isStream
        ? JSON.parse(/^data: (.*"type":"response.completed".*)$/m.exec(text)?.[1] ?? '').response
        : JSON.parse(text)
      const items: { type: string; arguments: string }[] = response.output
      return items.filter(({ type }) => type === 'function_call').map((item) => item.arguments)
    },
  },
]

async function ask({ get }: TestGateway, { path, body }: Door, isStream: boolean): Promise<string> {
  const text = JSON.stringify({ model: 'm', stream: isStream, ...body })
  return (await get(path, { method: 'POST', body: text })).text()
}

const ways = doors.flatMap((door) =>
  [false, true].map((isStream) => ({ door, isStream, path: door.path })),
)

describe.each(ways)('arguments that are an object at $path, streamed: $isStream', (way) => {
  test('keep the numbers and their spelling', async () => {
    const { door, isStream } = way
    const gateway = await testGateway(toml)
    gateway.upstream.next(answer(objects, isStream))
    expect(door.read(await ask(gateway, door, isStream), isStream)).toEqual(objects)
  })

  test('keep them in a whole answer, also to a streamed request', async () => {
    const { door, isStream } = way
    const gateway = await testGateway(toml)
    gateway.upstream.next(answer(objects, false))
    expect(door.read(await ask(gateway, door, isStream), isStream)).toEqual(objects)
  })

  test('and random ones beside texts come as they were written', async () => {
    const { door, isStream } = way
    const gateway = await testGateway(toml)
    const number = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String)
    const object = number.map((text) => `{"a":${text}}`)
    const list = fc.array(fc.tuple(object, fc.boolean()), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(list, async (calls) => {
        const given = calls.map(([text, isText]) => (isText ? JSON.stringify(text) : text))
        gateway.upstream.next(answer(given, isStream))
        const got = door.read(await ask(gateway, door, isStream), isStream)
        expect(got).toEqual(calls.map(([text]) => text))
      }),
      { numRuns: 20 },
    )
  })
})
