import { describe, expect, test } from 'vitest'
import { countTokens } from '../../adapters/node/tokenizer/count.ts'
import { validateAsSent } from '../../src/core/as-sent.ts'
import { chatRequest } from '../../src/core/chat.ts'
import type { TokenEncoding, Tokenizer } from '../../src/index.ts'
import { countExactly, toChatCountInput } from '../../src/tokens/index.ts'

const inProcess: Tokenizer = {
  count: (encoding, texts) => countTokens({ encoding, texts, timeLimit: Number.POSITIVE_INFINITY }),
}

// Loading an encoder takes seconds on a busy machine, so it happens before any test has a time limit.
for (const encoding of ['cl100k_base', 'o200k_base'] as const) await inProcess.count(encoding, [''])

/** Every character is a token. */
const characters: Tokenizer = {
  count: async (_, texts) => texts.map(({ length }) => length),
}

interface Counted {
  readonly messages: readonly object[]
  readonly tools?: readonly object[]
  readonly output?: string
  readonly encoding?: TokenEncoding
  readonly tokenizer?: Tokenizer
}

function count({
  output = '',
  encoding = 'o200k_base',
  tokenizer = characters,
  ...fields
}: Counted) {
  const request = validateAsSent(chatRequest, { model: 'm', ...fields }).data
  if (!request) throw new Error('not a chat request')
  return countExactly(tokenizer, toChatCountInput({ encoding, request, output }))
}

async function promptTokens(counted: Counted): Promise<number | undefined> {
  return (await count(counted))?.promptTokens
}

test('an enum may have any number of values', async () => {
  const choices = Array.from({ length: 200_000 }, () => 'a')
  const parameters = { type: 'object', properties: { a: { type: 'string', enum: choices } } }
  const tools = [{ type: 'function', function: { name: 'f', parameters } }]
  const messages = [{ role: 'user', content: 'Hi' }]
  expect(await promptTokens({ messages, tools })).toBeGreaterThan(200_000)
})

describe('the examples of the OpenAI cookbook', () => {
  const jargon = [
    {
      role: 'system',
      content:
        'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
    },
    {
      role: 'system',
      name: 'example_user',
      content: 'New synergies will help drive top-line growth.',
    },
    {
      role: 'system',
      name: 'example_assistant',
      content: 'Things working well together will increase revenue.',
    },
    {
      role: 'system',
      name: 'example_user',
      content:
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
    },
    {
      role: 'system',
      name: 'example_assistant',
      content: "Let's talk later when we're less busy about how to do better.",
    },
    {
      role: 'user',
      content:
        "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
  ]
  const weather = {
    messages: [
      {
        role: 'system',
        content: 'You are a helpful assistant that can answer to questions about the weather.',
      },
      { role: 'user', content: "What's the weather like in San Francisco?" },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_current_weather',
          description: 'Get the current weather in a given location',
          parameters: {
            type: 'object',
            properties: {
              location: {
                type: 'string',
                description: 'The city and state, e.g. San Francisco, CA',
              },
              unit: {
                type: 'string',
                description: 'The unit of temperature to return',
                enum: ['celsius', 'fahrenheit'],
              },
            },
            required: ['location'],
          },
        },
      },
    ],
  }

  test.each([
    ['cl100k_base', 129],
    ['o200k_base', 124],
  ] as const)('messages with names, in %s: %i', async (encoding, tokens) => {
    expect(await promptTokens({ messages: jargon, encoding, tokenizer: inProcess })).toBe(tokens)
  })

  test.each([
    ['cl100k_base', 105],
    ['o200k_base', 101],
  ] as const)('a tool, in %s: %i', async (encoding, tokens) => {
    expect(await promptTokens({ ...weather, encoding, tokenizer: inProcess })).toBe(tokens)
  })
})

describe('the count of a prompt', () => {
  test('a message adds 3 tokens to its role and text, and the reply 3', async () => {
    expect(await promptTokens({ messages: [{ role: 'user', content: 'abcd' }] })).toBe(
      3 + 3 + 4 + 4,
    )
  })

  test('a name adds its own tokens and 1', async () => {
    expect(await promptTokens({ messages: [{ role: 'user', name: 'ann', content: '' }] })).toBe(
      3 + 3 + 4 + 3 + 1,
    )
  })

  test.each(['{"a":1}', { a: 1 }])('calls add their names and arguments: %j', async (given) => {
    const messages = [
      {
        role: 'tool',
        content: null,
        tool_calls: [{ id: 'call_1', function: { name: 'sum', arguments: given } }],
      },
    ]
    expect(await promptTokens({ messages })).toBe(3 + 3 + 4 + 3 + 7)
  })

  test('an image of low detail is 85 tokens, any other 765', async () => {
    const image = (detail?: string) => ({
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,AAAA', detail },
    })
    const content = [{ type: 'text', text: 'ab' }, image('low'), image('high'), image()]
    expect(await promptTokens({ messages: [{ role: 'user', content }] })).toBe(
      3 + 3 + 4 + 2 + 85 + 765 + 765,
    )
  })

  test('nested parameters count', async () => {
    const parameters = {
      properties: { a: { type: 'array', items: { properties: { b: { type: 'object' } } } } },
    }
    const messages = [{ role: 'user', content: '' }]
    const tools = [{ type: 'function', function: { name: 'f', parameters } }]
    const texts = ['f:', 'a:array:', 'b:object:'].join('').length
    expect(await promptTokens({ messages, tools })).toBe(3 + 3 + 4 + 12 + 7 + 2 * (3 + 3) + texts)
  })

  test('a tool that is not a function counts as written', async () => {
    const tool = { type: 'web_search' }
    const messages = [{ role: 'user', content: '' }]
    expect(await promptTokens({ messages, tools: [tool] })).toBe(
      3 + 3 + 4 + 12 + 7 + JSON.stringify(tool).length,
    )
  })
})

test('the answer counts its text, and the usage says that the gateway counted', async () => {
  const messages = [{ role: 'user', content: 'abcd' }]
  expect(await count({ messages, output: 'xyz' })).toEqual({
    promptTokens: 14,
    completionTokens: 3,
    totalTokens: 17,
    estimated: true,
  })
})
