import { describe, expect, test } from 'vitest'
import { completion, makeChunk, wholeStream } from '../support/answers.ts'
import { awsEvent } from '../support/aws-event-stream.ts'
import { byProvider, called, makeChain } from '../support/chain.ts'
import { textCompletion } from '../support/completions.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'

/*
 * An answer with nothing in it, which does not say why, is a failed attempt like any other: it is retried, the
 * next link serves, and it counts for the circuit.
 */

const messages = [{ role: 'user', content: 'Hi' }]
const chat = '/v1/chat/completions'
const gemini = '/v1beta/models/m:generateContent'
const geminiStream = '/v1beta/models/m:streamGenerateContent?alt=sse'
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const bodies: Readonly<Record<string, object>> = {
  [chat]: { messages },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/messages': { max_tokens: 9, messages },
  '/v1/responses': { input: 'Hi' },
  [gemini]: { contents },
  [geminiStream]: { contents },
}

const choose = (choice: object) => json({ choices: [{ index: 0, ...choice }] })
const events = (...payloads: object[]) =>
  stream(payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`))
const claude = { type: 'message', role: 'assistant', content: [] }
const begun = { type: 'message_start', message: { ...claude, id: 'm', usage: {} } }
const silent = { candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, index: 0 }] }
const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] }

/** What a link answers, and a link of the same door that serves. */
type Case = readonly [string, { kind: string; path: string; empty: Responder; isStream?: boolean }]

const cases: readonly Case[] = [
  ['no choices', { kind: 'openai', path: chat, empty: json({ choices: [] }) }],
  ['null', { kind: 'openai', path: chat, empty: choose({ message: null, finish_reason: 'stop' }) }],
  ['a number', { kind: 'groq', path: chat, empty: choose({ message: { content: 5 } }) }],
  ['no content', { kind: 'vllm', path: '/v1/messages', empty: choose({ message: {} }) }],
  ['no text', { kind: 'openai', path: '/v1/completions', empty: choose({ text: null }) }],
  ['no output', { kind: 'openai', path: '/v1/responses', empty: json({ output: [] }) }],
  ['no blocks', { kind: 'anthropic', path: chat, empty: json(claude) }],
  ['no blocks', { kind: 'anthropic', path: '/v1/messages', empty: json(claude) }],
  ['no parts', { kind: 'google', path: chat, empty: json({ candidates: [{}] }) }],
  ['no candidates', { kind: 'google', path: '/v1/messages', empty: json({ candidates: [] }) }],
  ['no candidates', { kind: 'google', path: gemini, empty: json({ candidates: [] }) }],
  ['no parts', { kind: 'google', path: gemini, empty: json({ candidates: [{}, {}] }) }],
  ['no text', { kind: 'google', path: gemini, empty: json(silent) }],
  [
    'no blocks',
    { kind: 'bedrock', path: chat, empty: json({ output: { message: { content: [] } } }) },
  ],
  ['no message', { kind: 'cohere', path: '/v1/responses', empty: json({ message: {} }) }],
  ['[DONE]', { kind: 'openai', path: chat, empty: stream(['data: [DONE]\n\n']), isStream: true }],
  [
    'a role and [DONE]',
    {
      kind: 'openai',
      path: '/v1/messages',
      empty: stream([
        makeChunk({ choices: [{ index: 0, delta: { role: 'assistant' } }] }),
        'data: [DONE]\n\n',
      ]),
      isStream: true,
    },
  ],
  [
    'message_stop',
    { kind: 'anthropic', path: chat, empty: events({ type: 'message_stop' }), isStream: true },
  ],
  [
    'message_start and message_stop',
    {
      kind: 'anthropic',
      path: '/v1/messages',
      empty: events(begun, { type: 'message_stop' }),
      isStream: true,
    },
  ],
  ['no candidate', { kind: 'google', path: chat, empty: events({}), isStream: true }],
  ['no candidate', { kind: 'google', path: geminiStream, empty: events({}), isStream: true }],
  [
    'no text',
    { kind: 'google', path: geminiStream, empty: events(silent, silent), isStream: true },
  ],
  [
    'messageStop',
    {
      kind: 'bedrock',
      path: chat,
      empty: stream([awsEvent('messageStop', {})], {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      }),
      isStream: true,
    },
  ],
  [
    'message-end',
    {
      kind: 'cohere',
      path: chat,
      empty: events({ type: 'message-start', id: 'c' }, { type: 'message-end', delta: {} }),
      isStream: true,
    },
  ],
  [
    'response.created',
    {
      kind: 'openai',
      path: '/v1/responses',
      empty: events({ type: 'response.created', response }),
      isStream: true,
    },
  ],
  [
    '[DONE]',
    {
      kind: 'openai',
      path: '/v1/completions',
      empty: stream(['data: [DONE]\n\n']),
      isStream: true,
    },
  ],
]

/** The answer of the link behind it, which speaks chat completions only but at `/v1/completions`. */
function serve(path: string, isStream: boolean): Responder {
  if (path !== '/v1/completions') return isStream ? stream([wholeStream]) : json(completion())
  const { choices, ...head } = textCompletion() as { choices: readonly object[] }
  const chunk = `data: ${JSON.stringify({ ...head, choices })}\n\ndata: [DONE]\n\n`
  return isStream ? stream([chunk]) : json(textCompletion())
}

async function ask({ clock, get }: TestGateway, path: string, isStream: boolean) {
  const body = JSON.stringify({ model: 'm', stream: isStream, ...bodies[path] })
  const pending = get(path, { method: 'POST', body })
  await clock.advance(5000)
  const answer = await pending
  return { status: answer.status, text: await answer.text() }
}

describe('an answer with nothing in it', () => {
  const named = cases.map(([what, one]) => ({ what, isStream: false, ...one }))
  const title =
    '$what of $kind through $path (stream: $isStream) is retried, then the next link serves'
  test.each(named)(title, async ({ kind, path, empty, isStream }) => {
    const settings = 'retry_max_attempts = 2\ncircuit_failure_threshold = 2'
    const links = [{ kind }, { kind: path === '/v1/completions' ? 'openai' : 'groq' }]
    const gateway = await testGateway(makeChain(links, settings))
    byProvider(gateway.upstream, { p: empty, p2: serve(path, isStream) })
    const { status, text } = await ask(gateway, path, isStream)
    expect(called(gateway.upstream), text).toEqual(['p', 'p', 'p2'])
    expect(status).toBe(200)
    expect(text).toMatch(/Hi|Hello|four/)
    // Both failures have opened the circuit.
    await ask(gateway, path, isStream)
    expect(called(gateway.upstream)).toEqual(['p', 'p', 'p2', 'p2'])
  })
})
