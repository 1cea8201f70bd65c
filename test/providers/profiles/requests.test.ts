import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '../../../src/core/chat.ts'
import type { PastReasoning } from '../../../src/core/past-reasoning.ts'
import { runAtOnce } from '../../../src/core/steps.ts'
import {
  type ProfileSource,
  resolveProfile,
  type WrittenRequest,
  writeRequest,
} from '../../../src/providers/profiles/index.ts'
import { isObject } from '../../../src/wire/json/parse.ts'

/*
 * Requests as upstreams of the OpenAI format demand them. Expected values may hold `$any` (a non-empty string),
 * `$re` (a pattern) with `$bind` (a name for what matched), and `$same` (what that name stands for).
 */

interface Case {
  readonly title: string
  readonly on: readonly Upstream[]
  readonly given: {
    readonly messages?: readonly Json[]
    readonly params?: Json
    readonly messagesApi?: Json
  }
  readonly expected: {
    readonly messages?: readonly Json[]
    readonly body?: Json
    readonly absent?: readonly string[]
    readonly dropped?: readonly string[]
  }
}

interface Upstream extends Partial<ProfileSource> {
  /** The address in the configuration, where it has one. */
  readonly customBaseUrl?: string
}

type Json = Readonly<Record<string, unknown>>

const file = new URL('./requests.json', import.meta.url)
const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly Case[]

describe.each(cases)('$title', ({ on, given, expected }) => {
  test.each(on)('on $kind, $upstreamId', (source) => {
    const { body, dropped } = write(given, source)
    const bound = new Map<string, unknown>()
    if (expected.messages) {
      expect(
        matches(expected.messages, body['messages'], bound),
        JSON.stringify(body['messages']),
      ).toBe(true)
    }
    for (const [name, value] of Object.entries(expected.body ?? {})) {
      expect(body, name).toHaveProperty(name)
      expect(body[name]).toEqual(value)
    }
    for (const path of expected.absent ?? []) expect(find(body, path)).toBeUndefined()
    if (expected.dropped) expect(dropped.map(inDoor)).toEqual(expected.dropped)
  })
})

function write(given: Case['given'], { customBaseUrl, ...source }: Upstream): WrittenRequest {
  const resolved = resolveProfile({
    kind: 'openai',
    baseUrl: customBaseUrl ?? 'https://vendor.example/v1',
    hasCustomBaseUrl: customBaseUrl !== undefined,
    upstreamId: 'model-1',
    takesEffort: false,
    settings: [],
    ...source,
  })
  const { thinking, output_config: config, messages, max_tokens: bound } = given.messagesApi ?? {}
  const { tools, ...params } = given.params ?? {}
  const request = {
    model: 'model-1',
    messages: (given.messages ??
      messages ?? [{ role: 'user', content: 'Hi' }]) as ChatRequest['messages'],
    ...params,
    ...(Array.isArray(tools) && {
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
    }),
    ...(thinking !== undefined && { thinking }),
    ...(isObject(config) && { reasoning_effort: config['effort'] }),
    ...(bound !== undefined && { max_tokens: bound }),
  } as ChatRequest
  const withPast = { ...request, messages: request.messages.map(toPast) } as ChatRequest
  const { profile, lineage } = resolved
  return runAtOnce(writeRequest(withPast, { profile, recipient: { model: 'a-model', lineage } }))
}

test.each([
  ['of one schema', 1],
  ['of many schemas', 300],
])('references %s are replaced up to a bound', (_, count) => {
  const members = Object.fromEntries(Array.from({ length: 500 }, (__, at) => [`k${at}`, {}]))
  const parameters = {
    $defs: { d: { properties: members } },
    properties: Object.fromEntries(
      Array.from({ length: 900 }, (__, at) => [`r${at}`, { $ref: '#/$defs/d' }]),
    ),
  }
  const tools = Array.from({ length: count }, (__, at) => ({ name: `f${at}`, parameters }))
  const { body } = write(
    { params: { tools } },
    { kind: 'openrouter', upstreamId: 'google/gemini-3-pro' },
  )
  const given = JSON.stringify(tools).length
  expect(JSON.stringify(body).length).toBeLessThan(given + 500_000)
})

/** The cases say what the model thought and in which member it came. */
function toPast({ reasoning, ...message }: ChatRequest['messages'][number]) {
  if (!isObject(reasoning)) return message
  const { text, field, details } = reasoning
  const past: PastReasoning = {
    model: 'a-model',
    form: field as PastReasoning['form'],
    text: typeof text === 'string' ? text : '',
    entries: details as readonly unknown[] | undefined,
  }
  return { ...message, past_reasoning: [past] }
}

/** The paths of the chat request, as the Messages API names them. */
function inDoor(path: string): string {
  return path === 'reasoning_effort' ? 'output_config.effort' : path
}

function matches(expected: unknown, given: unknown, bound: Map<string, unknown>): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(given) &&
      given.length === expected.length &&
      expected.every((item, index) => matches(item, given[index], bound))
    )
  }
  if (!isObject(expected)) return Object.is(expected, given)
  if ('$any' in expected) return typeof given === 'string' && given !== ''
  if ('$same' in expected) return bound.get(String(expected['$same'])) === given
  if ('$re' in expected) {
    bound.set(String(expected['$bind']), given)
    return typeof given === 'string' && new RegExp(String(expected['$re'])).test(given)
  }
  if (!isObject(given)) return false
  const names = Object.keys(given).filter((name) => given[name] !== undefined)
  return (
    names.length === Object.keys(expected).length &&
    Object.entries(expected).every(([name, value]) => matches(value, given[name], bound))
  )
}

function find(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], body)
}
