import { describe, expect, test } from 'vitest'
import { convertShape } from '../../src/doors/gemini/forms.ts'
import { openSlice } from '../support/open-slice.ts'
import { answerAxes } from './answers.ts'
import { axes, type DoorPath } from './bodies.ts'
import { type AnswerDoor, growthGateway, sendBody, sendQuestion, writeBody } from './gateway.ts'
import { maxGrowth, measureGrowth } from './measure.ts'

/*
 * Twice as many things in a request or an answer take about twice the time: nothing searches a list for each
 * item of a list. `npm run growth` tries every axis with every kind and door; these were quadratic once.
 */

const gateway = await growthGateway()

type Case<Door> = readonly [door: Door, name: string, model: string, count: number]

const requests: readonly Case<DoorPath>[] = [
  ['responses', 'empty proofs before calls', 'google', 1000],
  ['responses', 'proofs of other calls', 'google', 2000],
  ['responses', 'allowed tools', 'openai', 1000],
  ['responses', 'allowed namespaces', 'openai', 1000],
  ['messages', 'empty proofs before calls', 'google', 1000],
  ['messages', 'proofs of other calls', 'google', 2000],
  ['messages', 'messages of images', 'openai', 4000],
  ['messages/count_tokens', 'empty proofs before calls', 'anthropic', 1000],
  ['chat/completions', 'calls of one id', 'bedrock', 1000],
]

describe('the time for a request grows with the number of', () => {
  test.each(requests)('%s: %s, for %s', async (door, name, model, count) => {
    const axis = axes.find((other) => other.door === door && other.name === name)
    if (!axis) throw new Error(`no axis ${name}`)
    const growth = await measureGrowth(count, async (size) => {
      const body = writeBody(axis, model, size)
      return () => sendBody(gateway, { door, model, body })
    })
    expect(growth).toBeLessThan(maxGrowth)
  })
})

const answers: readonly Case<AnswerDoor>[] = [
  ['chat/completions', 'signed texts', 'google', 5000],
  ['chat/completions', 'thinking between texts', 'anthropic', 5000],
  ['chat/completions', 'reasoning between texts', 'bedrock', 5000],
  ['chat/completions', 'supports at another place', 'google', 500],
  ['chat/completions', 'supports that are nowhere', 'google', 500],
  ['chat/completions', 'recited sources', 'google', 500],
  ['gemini', 'calls', 'anthropic', 2000],
]

const streams: readonly Case<AnswerDoor>[] = [
  ['chat/completions', 'texts with citations in one event', 'anthropic', 300],
]

describe('the time for an answer grows with the number of', () => {
  test.each([
    ...answers.map((one) => [...one, false] as const),
    ...streams.map((one) => [...one, true] as const),
  ])('%s: %s, of %s', async (door, name, model, count, isStream) => {
    const axis = answerAxes.find(
      (other) => other.model === model && other.name === name && other.isStream === isStream,
    )
    if (!axis) throw new Error(`no axis ${name}`)
    const growth = await measureGrowth(count, async (size) => {
      const answer = axis.make(size)
      return () => sendQuestion(gateway, { door, axis, answer })
    })
    expect(growth).toBeLessThan(maxGrowth)
  })
})

test('the time for a whole answer grows with the number of kept chunks with log probabilities', async () => {
  const growth = await measureGrowth(2000, async (size) => {
    const chunk = (at: number) =>
      `{"candidates":[{"content":{"parts":[{"text":"x"}]},"index":0,"logprobsResult":{"chosenCandidates":[{"token":"${at}","logProbability":-1}]}}]}`
    const body = new TextEncoder().encode(
      `[${Array.from({ length: size }, (_, at) => chunk(at)).join(',\r\n')}\n]`,
    )
    const slice = openSlice()
    return () => convertShape(body, { shape: 'whole', slice })
  })
  expect(growth).toBeLessThan(maxGrowth)
})

test('sources that cite one long text add to the answer no more than a part of it', async () => {
  const axis = answerAxes.find(
    ({ name, isStream }) => name === 'sources of the whole text' && !isStream,
  )
  if (!axis) throw new Error('no such axis')
  const answer = axis.make(4000)
  const { status, written } = await sendQuestion(gateway, {
    door: 'chat/completions',
    axis,
    answer,
  })
  expect(status).toBe(200)
  expect(written).toBeLessThan(6_000_000)
})

test.each([false, true])(
  'an answer brings at most 10,000 sources, streamed: %s',
  async (isStream) => {
    const axis = answerAxes.find(
      ({ model, name, isStream: isOther }) =>
        model === 'cohere' && name === 'citations' && isOther === isStream,
    )
    if (!axis) throw new Error('no such axis')
    const { status, readAll } = await sendQuestion(gateway, {
      door: 'chat/completions',
      axis,
      answer: axis.make(10_010),
    })
    expect(status).toBe(200)
    expect(readAll().split('"url_citation":{').length - 1).toBe(10_000)
  },
)

test('a long name that every result repeats is short for Gemini', async () => {
  const name = 'f'.repeat(100_000)
  const messages = [
    { role: 'user', content: 'x' },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{}' } }],
    },
    ...Array.from({ length: 100 }, () => ({ role: 'tool', tool_call_id: 'c', content: 'x' })),
  ]
  const body = JSON.stringify({ model: 'google', messages })
  const { written } = await sendBody(gateway, { door: 'chat/completions', model: 'google', body })
  expect(written).toBeGreaterThan(0)
  expect(written).toBeLessThan(100_000)
})
