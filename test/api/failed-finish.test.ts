import { describe, expect, test } from 'vitest'
import { chunk, completion, done, hello, role } from '../support/answers.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'

/* Upstreams that fail by their finish reason: before any content a failed attempt, behind it an error. */

const words = [
  'error',
  'network_error',
  'insufficient_system_resource',
  'abort',
  'malformed_function_call',
  'ERROR',
]

const twoModels = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "openai"
base_url = "http://up.test/v1"
models = [{ id = "m", fallbacks = ["spare"] }, { id = "spare" }]
`

interface Door {
  readonly path: string
  readonly body: object
  /** What the end of a failed stream has. */
  readonly failed: string
}

const messages = [{ role: 'user', content: 'Hi' }]
const doors: readonly Door[] = [
  { path: '/v1/chat/completions', body: { messages }, failed: '"code":"LM-3010"' },
  { path: '/v1/messages', body: { messages, max_tokens: 64 }, failed: 'event: error' },
  { path: '/v1/responses', body: { input: 'Hi' }, failed: 'response.failed' },
]

async function ask({ get }: TestGateway, { path, body }: Door, isStream: boolean): Promise<string> {
  const text = JSON.stringify({ model: 'm', stream: isStream, ...body })
  return (await get(path, { method: 'POST', body: text })).text()
}

function whole(reason: string): Responder {
  const message = { role: 'assistant', content: '' }
  return json(completion('', { choices: [{ index: 0, message, finish_reason: reason }] }))
}

describe.each(doors)('an answer at $path', (door) => {
  test.each(words)('that ends with %s is a failed attempt: the fallback answers', async (word) => {
    const gateway = await testGateway(twoModels)
    gateway.upstream.next(whole(word), json(completion('Hello from the spare')))
    expect(await ask(gateway, door, false)).toContain('Hello from the spare')
    gateway.upstream.next(
      stream([role + chunk({ content: '' }, {}, word) + done]),
      stream([role + chunk({ content: 'Hello from the spare' }) + chunk({}, {}, 'stop') + done]),
    )
    expect(await ask(gateway, door, true)).toContain('Hello from the spare')
    expect(gateway.upstream.requests).toHaveLength(4)
  })

  test('that fails behind its first content ends with an error', async () => {
    const gateway = await testGateway(twoModels)
    gateway.upstream.next(stream([role + hello + chunk({}, {}, 'error') + done]))
    const text = await ask(gateway, door, true)
    expect(text).toContain('Hello')
    expect(text).toContain(door.failed)
    expect(text).not.toContain('[DONE]')
  })

  test('that fails with an error in its choice has the words of the upstream', async () => {
    const gateway = await testGateway(twoModels.replace(', fallbacks = ["spare"]', ''))
    const error = { code: 502, message: 'Provider returned error' }
    const message = { role: 'assistant', content: '' }
    const choice = { index: 0, message, finish_reason: 'error', error }
    gateway.upstream.next(json(completion('', { choices: [choice] })))
    expect(await ask(gateway, door, false)).toContain('Provider returned error')
  })
})

const geminiModels = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "g"
kind = "google"
api_key_env = "P_KEY"
models = [{ id = "m", upstream_id = "gemini-2.5-flash", fallbacks = ["spare"] }]
[[providers]]
name = "p"
kind = "openai"
base_url = "http://up.test/v1"
models = [{ id = "spare" }]
`

const geminiReasons = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
]

const geminiGateway = (toml = geminiModels) => testGateway(toml, { env: { P_KEY: 'k' } })

/** A response of Gemini with these parts, which ends for the reason. */
function candidate(parts: readonly object[], finishReason?: string): object {
  const ending = finishReason && { finishReason, finishMessage: 'Malformed function call: f(' }
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...ending }] }
}

describe.each(doors)("Gemini's answer at $path", (door) => {
  test.each(geminiReasons)(
    'that ends with %s is a failed attempt: the fallback answers',
    async (reason) => {
      const gateway = await geminiGateway()
      for (const parts of [[], [{ text: '' }]]) {
        gateway.upstream.next(
          json(candidate(parts, reason)),
          json(completion('Hello from the spare')),
        )
        expect(await ask(gateway, door, false)).toContain('Hello from the spare')
        gateway.upstream.next(
          stream([`data: ${JSON.stringify(candidate(parts, reason))}\r\n\r\n`]),
          stream([
            role + chunk({ content: 'Hello from the spare' }) + chunk({}, {}, 'stop') + done,
          ]),
        )
        expect(await ask(gateway, door, true)).toContain('Hello from the spare')
      }
      expect(gateway.upstream.requests).toHaveLength(8)
    },
  )

  test('that fails behind its first content ends with an error', async () => {
    const gateway = await geminiGateway()
    const events = [candidate([{ text: 'Hello' }]), candidate([], 'MALFORMED_FUNCTION_CALL')].map(
      (event) => `data: ${JSON.stringify(event)}\r\n\r\n`,
    )
    gateway.upstream.next(stream(events))
    const text = await ask(gateway, door, true)
    expect(text).toContain('Hello')
    expect(text).toContain(door.failed)
    expect(text).not.toContain('[DONE]')
  })

  test('that fails has the words of the upstream', async () => {
    const gateway = await geminiGateway(geminiModels.replace(', fallbacks = ["spare"]', ''))
    gateway.upstream.next(json(candidate([], 'MALFORMED_FUNCTION_CALL')))
    expect(await ask(gateway, door, false)).toContain('Malformed function call: f(')
  })
})

describe('other words for the end of an answer', () => {
  test.each([
    ['model_length', 'max_tokens', 'incomplete'],
    ['model_context_window_exceeded', 'max_tokens', 'incomplete'],
    ['sensitive', 'refusal', 'incomplete'],
    ['eos', 'end_turn', 'completed'],
    ['COMPLETE', 'end_turn', 'completed'],
  ])('%s', async (word, stopReason, status) => {
    const gateway = await testGateway(twoModels)
    const message = { role: 'assistant', content: 'Hello' }
    const answer = json(completion('', { choices: [{ index: 0, message, finish_reason: word }] }))
    gateway.upstream.next(answer, answer)
    const [, messagesDoor, responsesDoor] = doors as [Door, Door, Door]
    expect(JSON.parse(await ask(gateway, messagesDoor, false)).stop_reason).toBe(stopReason)
    expect(JSON.parse(await ask(gateway, responsesDoor, false)).status).toBe(status)
  })

  test('an empty one beside calls is a call', async () => {
    const gateway = await testGateway(twoModels)
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: '', tool_calls: [call] }
    gateway.upstream.next(
      json(completion('', { choices: [{ index: 0, message, finish_reason: '' }] })),
    )
    const [, messagesDoor] = doors as [Door, Door, Door]
    expect(JSON.parse(await ask(gateway, messagesDoor, false)).stop_reason).toBe('tool_use')
  })
})
