import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { greeting, reasoning } from '../../scripts/conformance/upstream/scenario.ts'
import { type StrictVendors, startStrictVendors } from './support/strict-vendors.ts'

/*
 * The Gemini API of the official SDK, over sockets: native on google, translated on the others.
 */

let vendors: StrictVendors
let client: GoogleGenAI

beforeAll(async () => {
  vendors = await startStrictVendors()
  const baseUrl = vendors.baseURL.replace(/\/v1$/, '')
  client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl } })
})

afterAll(async () => {
  await vendors?.close()
})

const question: Content = { role: 'user', parts: [{ text: 'What is the weather in Zürich?' }] }
const parameters = {
  type: Type.OBJECT,
  properties: { city: { type: Type.STRING } },
  required: ['city'],
}
const tools = [
  {
    functionDeclarations: ['weather', 'time'].map((name) => ({
      name,
      description: 'Knows it.',
      parameters,
    })),
  },
]
const thinkingConfig = { includeThoughts: true, thinkingBudget: 4096 }

interface Asked {
  readonly model: string
  readonly contents: Content[]
  readonly config?: object
}

/** The parts of an answer, of a whole one or of a stream. */
type Send = (asked: Asked) => Promise<Content>

async function generate(asked: Asked): Promise<Content> {
  const { candidates } = await client.models.generateContent(asked)
  return { role: 'model', parts: candidates?.[0]?.content?.parts ?? [] }
}

async function stream(asked: Asked): Promise<Content> {
  const parts = []
  for await (const { candidates } of await client.models.generateContentStream(asked)) {
    parts.push(...(candidates?.[0]?.content?.parts ?? []))
  }
  return { role: 'model', parts }
}

const sends: readonly (readonly [string, Send])[] = [
  ['generateContent', generate],
  ['generateContentStream', stream],
]

/** Runs the calls of an answer and asks again, with the whole history. */
async function runTools(send: Send, model: string, config: object = {}) {
  const first = await send({ model, contents: [question], config: { tools, ...config } })
  const results = (first.parts ?? []).flatMap(({ functionCall: call }) =>
    call
      ? [
          {
            functionResponse: {
              name: call.name ?? '',
              response: { output: `sunny in ${call.args?.['city']}` },
            },
          },
        ]
      : [],
  )
  const contents = [question, first, { role: 'user', parts: results }]
  return { first, last: await send({ model, contents, config: { tools, ...config } }) }
}

function joinText({ parts = [] }: Content): string {
  return parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join('')
}

describe.each(['openai', 'anthropic', 'google', 'bedrock'])('the official SDK on %s', (kind) => {
  test.each(sends)('%s answers a text', async (_, send) => {
    const config = { systemInstruction: 'Be brief.' }
    const answer = await send({ model: `${kind}--say`, contents: [question], config })
    expect(joinText(answer)).toBe(greeting)
  })

  test('has the usage and the reason of an answer', async () => {
    const asked = { model: `${kind}--say`, contents: [question] }
    const { usageMetadata, candidates } = await client.models.generateContent(asked)
    expect(candidates?.[0]?.finishReason).toBe('STOP')
    expect(usageMetadata?.totalTokenCount).toBeGreaterThan(0)
    expect(usageMetadata).not.toHaveProperty('estimated')
  })

  test.each(sends)('%s runs a tool and gives its result back', async (_, send) => {
    const { last } = await runTools(send, `${kind}--tool`)
    expect(joinText(last)).toBe('The result: sunny in Zürich 1.')
  })

  test.each(sends)('%s runs parallel calls, and gives the thinking back', async (_, send) => {
    const { first, last } = await runTools(send, `${kind}--parallel`, { thinkingConfig })
    expect(first.parts?.filter(({ functionCall }) => functionCall)).toHaveLength(2)
    expect(joinText(last)).toBe('The result: sunny in Zürich 1 and sunny in Zürich 2.')
  })

  test.each(sends)('%s shows reasoning as thoughts ahead of the text', async (_, send) => {
    const config = { thinkingConfig }
    const answer = await send({ model: `${kind}--think`, contents: [question], config })
    const thoughts = answer.parts?.filter(({ thought }) => thought) ?? []
    expect(thoughts.map(({ text }) => text).join('')).toBe(reasoning)
    expect(joinText(answer)).toBe(greeting)
  })

  test('a chat keeps the proofs of its turns', async () => {
    const chat = client.chats.create({ model: `${kind}--tool`, config: { tools, thinkingConfig } })
    const first = await chat.sendMessage({ message: 'Weather?' })
    const [call] = first.functionCalls ?? []
    const response = { output: `sunny in ${call?.args?.['city']}` }
    const functionResponse = { id: call?.id ?? '', name: call?.name ?? '', response }
    const last = await chat.sendMessage({ message: [{ functionResponse }] })
    expect(last.text).toBe('The result: sunny in Zürich 1.')
  })

  test('an answer has the form of its schema', async () => {
    const responseSchema = {
      type: Type.OBJECT,
      properties: { city: { type: Type.STRING }, days: { type: Type.NUMBER } },
      required: ['city', 'days'],
    }
    const config = { responseMimeType: 'application/json', responseSchema }
    const asked = { model: `${kind}--structured`, contents: [question], config }
    const { text } = await client.models.generateContent(asked)
    expect(JSON.parse(text ?? '')).toEqual({ city: 'Zürich 1', days: 1 })
  })

  test('a choice among the tools is taken', async () => {
    const functionCallingConfig = {
      mode: FunctionCallingConfigMode.ANY,
      allowedFunctionNames: ['weather'],
    }
    const config = { tools, toolConfig: { functionCallingConfig } }
    const asked = { model: `${kind}--tool`, contents: [question], config }
    const { functionCalls } = await client.models.generateContent(asked)
    expect(functionCalls?.[0]?.name).toBe('weather')
  })

  test('tokens are counted', async () => {
    const asked = { model: `${kind}--say`, contents: [question] }
    expect((await client.models.countTokens(asked)).totalTokens).toBeGreaterThan(0)
  })

  test('a stream that is cut raises an error after its text', async () => {
    let text = ''
    const read = async () => {
      const asked = { model: `${kind}--cut`, contents: [question] }
      for await (const chunk of await client.models.generateContentStream(asked)) {
        text += chunk.text ?? ''
      }
    }
    await expect(read()).rejects.toBeInstanceOf(Error)
    expect(text).not.toBe('')
    expect(greeting.startsWith(text)).toBe(true)
  })

  test.each([
    ['refuse', 400],
    ['rate-limited', 429],
    ['overloaded', 502],
  ])('%s is an ApiError with its status', async (scenario, status) => {
    const asked = { model: `${kind}--${scenario}`, contents: [question] }
    const error = await client.models.generateContent(asked).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status })
  })
})

test('the models are listed page by page', async () => {
  const names: (string | undefined)[] = []
  for await (const { name } of await client.models.list({ config: { pageSize: 3 } })) {
    names.push(name)
  }
  expect(names).toContain('models/google--say')
  expect(new Set(names).size).toBe(names.length)
  expect((await client.models.get({ model: 'google--say' })).name).toBe('models/google--say')
})

test('the vendors have accepted every request, with its proofs', () => {
  expect(vendors.listFaults()).toEqual([])
})
