import * as fc from 'fast-check'
import * as z from 'zod'
import type { TestGateway } from './gateway.ts'
import { json, type Responder, whole } from './scripted-upstream.ts'

/*
 * Requests for decisions in both forms, and an upstream of each that refuses what its vendor refuses.
 */

export type Form = 'openai' | 'typesafe'
export const forms: readonly Form[] = ['openai', 'typesafe']

export const ticket = 'I was charged twice for the same renewal.'

/** A request with a question of each type, in each form. */
export const asked = {
  openai: {
    model: 'm',
    input: ticket,
    questions: [
      { type: 'predicate', name: 'duplicate', instructions: 'Charged more than once.' },
      {
        type: 'choice',
        name: 'team',
        instructions: 'Who should handle it?',
        choices: [{ value: 'billing' }, { value: 'technical', description: 'Errors' }],
      },
      {
        type: 'score',
        instructions: 'How upset?',
        levels: [{ label: 'calm' }, { label: 'annoyed' }, { label: 'angry' }],
      },
    ],
  },
  typesafe: {
    model: 'm',
    state: { ticket },
    questions: {
      duplicate: {
        type: 'noul',
        instructions: 'Charged more than once?',
        criteria: { true: 'two charges', false: 'one' },
      },
      team: { type: 'choice', criteria: { billing: null, technical: 'Errors and outages' } },
      mood: { type: 'score', instructions: 'How upset?', criteria: ['calm', 'annoyed', 'angry'] },
    },
  },
} as const

/** An answer to `asked`, in each form, as its vendor writes it. */
export const answers = {
  openai: `{"model": "gpt-6-luna", "answers": [
  {"type": "predicate", "name": "duplicate", "probability": 0.97},
  {"type": "choice", "name": "team", "choice": "billing", "confidence": 0.94, "probabilities": [{"value": "billing", "probability": 0.970}, {"value": "technical", "probability": 3e-2}]},
  {"type": "score", "name": null, "score": 1.4, "confidence": 0.6, "probabilities": [{"value": 0, "label": "calm", "probability": 0.1}, {"value": 1, "label": "annoyed", "probability": 0.4}, {"value": 2, "label": "angry", "probability": 0.5}]}],
 "usage": {"input_tokens": 212, "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 12}, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 215}}`,
  typesafe: `{"model":"jev-1.14.0","answers":{"duplicate":{"type":"noul","noul":0.980},
"team":{"type":"choice","choice":"billing","confidence":0.95,"probabilities":{"billing":0.98,"technical":0.02}},
"mood":{"type":"score","score":1.4,"confidence":0.6,"legend":["calm","annoyed","angry"],"probabilities":{"0":0.1,"1":0.4,"2":0.5}}},
"usage":{"input_tokens":140,"output_tokens":8,"cached_input_tokens":40},"x":"é"}`,
} as const

export interface DecisionSetup {
  readonly kind: string
  readonly provider?: Readonly<Record<string, string>>
  readonly model?: Readonly<Record<string, unknown>>
}

/** A configuration with one provider of a kind and its model `m`, which is `upstream-m` there. */
export function decisionConfig({ kind, provider = {}, model = {} }: DecisionSetup): string {
  const entry = { id: 'm', upstream_id: 'upstream-m', capabilities: ['decisions'], ...model }
  return `
[[providers]]
${toml({ name: 'p', kind, api_key_env: 'P_KEY', ...provider })}
[[providers.models]]
${toml(entry)}
`
}

function toml(values: object): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n')
}

/** The path of each form that takes no other one, if there is one. */
export const paths = { openai: '/v1/decisions', typesafe: '/v1/systemone' } as const

/** Asks for decisions with this body: JSON text, or a value. */
export function decide(
  { get }: Pick<TestGateway, 'get'>,
  body: unknown,
  {
    path = '/v1/decisions',
    headers = {},
  }: Partial<Pick<RequestInit, 'headers'>> & { path?: string } = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return get(path, { method: 'POST', headers, body: text })
}

const parts = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('input_text'), text: z.string() }),
      z.strictObject({
        type: z.literal('input_image'),
        image_url: z.string().regex(/^(?:https?:|data:image\/)/),
        detail: z.enum(['low', 'high', 'auto', 'original']).optional(),
      }),
      z.strictObject({ type: z.literal('input_json'), data: z.unknown() }),
    ]),
  ),
])

const openAiQuestion = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('predicate'),
    name: z.string().optional(),
    instructions: parts,
  }),
  z.strictObject({
    type: z.literal('choice'),
    name: z.string().optional(),
    instructions: parts,
    choices: z
      .array(
        z.strictObject({
          value: z.union([z.string(), z.boolean()]),
          description: z.string().optional(),
        }),
      )
      .min(2)
      .max(255),
  }),
  z.strictObject({
    type: z.literal('score'),
    name: z.string().optional(),
    instructions: parts,
    levels: z
      .array(z.strictObject({ label: z.string(), description: z.string().optional() }))
      .min(2),
  }),
])

const openAiBody = z.strictObject({
  model: z.literal('upstream-m'),
  input: z.union([
    z.string(),
    z
      .array(z.strictObject({ role: z.enum(['user', 'developer', 'system']), content: parts }))
      .min(1),
  ]),
  questions: z.array(openAiQuestion).min(1).max(400),
  prompt_cache_key: z.string().nullish(),
  safety_identifier: z.string().max(128).nullish(),
})

const text = z.union([z.string(), z.looseObject({}), z.array(z.unknown())])

const typesafeQuestion = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('noul'),
    instructions: text.optional(),
    criteria: z.strictObject({ true: text.optional(), false: text.optional() }).optional(),
  }),
  z.strictObject({
    type: z.literal('choice'),
    instructions: text.optional(),
    criteria: z.record(z.string(), text.nullable()),
  }),
  z.strictObject({
    type: z.literal('score'),
    instructions: text.optional(),
    criteria: z.array(text).min(1).max(10),
  }),
])

const typesafeBody = z.strictObject({
  model: z.literal('upstream-m'),
  state: text,
  questions: z.record(z.string(), typesafeQuestion).refine((all) => Object.keys(all).length > 0),
  images: z.array(z.union([z.string(), z.looseObject({})])).optional(),
  assets: z.record(z.string(), z.looseObject({})).optional(),
})

/**
 * An upstream that takes one form alone, at its own path and with the right key, and answers every question, with a
 * number of its own in each answer.
 */
export function strictUpstream(form: Form, key: string): Responder {
  return (request) => {
    const { pathname } = new URL(request.url)
    const suffix = form === 'openai' ? '/decisions' : '/systemone'
    if (request.method !== 'POST' || !pathname.endsWith(suffix)) {
      return json({ error: { message: `no route ${pathname}` } }, { status: 404 })(request)
    }
    if (request.headers['authorization'] !== `Bearer ${key}`) {
      return json({ error: { message: 'bad key' } }, { status: 401 })(request)
    }
    const body: unknown = JSON.parse(new TextDecoder().decode(request.body))
    return (form === 'openai' ? answerOpenAi(body) : answerTypeSafe(body))(request)
  }
}

function answerOpenAi(body: unknown): Responder {
  const { success, data, error } = openAiBody.safeParse(body)
  if (!success) {
    const { message, path = [] } = error.issues[0] ?? { message: '' }
    const param = path.join('.')
    const type = 'invalid_request_error'
    return json(
      { error: { message: `Invalid '${param}': ${message}`, type, param } },
      { status: 400 },
    )
  }
  const list = data.questions.map(({ type, name = null }, index) => ({ type, name, n: index / 3 }))
  const usage = { input_tokens: 10, output_tokens: list.length, total_tokens: 10 + list.length }
  return whole(JSON.stringify({ model: 'gpt-6-luna', answers: list, usage }, null, 1))
}

function answerTypeSafe(body: unknown): Responder {
  const { success, data, error } = typesafeBody.safeParse(body)
  if (!success) {
    const { message, path = [] } = error.issues[0] ?? { message: '' }
    return json({ detail: [{ loc: ['body', ...path], msg: message }] }, { status: 422 })
  }
  const list = Object.entries(data.questions).map(([name, { type }], index) => [
    name,
    { type, n: index / 3 },
  ])
  const usage = { input_tokens: 10, output_tokens: list.length }
  const answer = { model: 'jev-1.14.0', answers: Object.fromEntries(list), usage }
  return whole(JSON.stringify(answer, null, 1))
}

/* Generated requests that the vendors accept. */

const words = fc.oneof(fc.string(), fc.constantFrom('é 🦦', 'a/b', '"quoted"', '{"model":"m"}'))
const someParts = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('input_text'), text: words }),
      fc.record({ type: fc.constant('input_json'), data: fc.jsonValue() }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
)
const name = fc.option(words, { nil: undefined })

const openAiQuestions = fc.oneof(
  fc.record({ type: fc.constant('predicate'), name, instructions: someParts }),
  fc.record({
    type: fc.constant('choice'),
    name,
    instructions: someParts,
    choices: fc.uniqueArray(
      fc.record({
        value: fc.oneof(words, fc.boolean()),
        description: fc.option(words, { nil: undefined }),
      }),
      { minLength: 2, maxLength: 5, selector: ({ value }) => value },
    ),
  }),
  fc.record({
    type: fc.constant('score'),
    name,
    instructions: someParts,
    levels: fc.array(fc.record({ label: words }), { minLength: 2, maxLength: 4 }),
  }),
)

const openAiRequests = fc.record({
  input: fc.oneof(
    words,
    fc.array(
      fc.record({ role: fc.constantFrom('user', 'developer', 'system'), content: someParts }),
      { minLength: 1, maxLength: 3 },
    ),
  ),
  questions: fc.array(openAiQuestions, { minLength: 1, maxLength: 4 }),
  prompt_cache_key: fc.option(words),
})

const structured = fc.oneof(
  words,
  fc.dictionary(words.filter(isPlain), fc.jsonValue(), { maxKeys: 3 }),
  fc.array(fc.jsonValue(), { maxLength: 3 }),
)

const typesafeQuestions = fc.oneof(
  fc.record({ type: fc.constant('noul'), instructions: structured }),
  fc.record({
    type: fc.constant('choice'),
    criteria: fc.dictionary(words.filter(isPlain), fc.option(structured), { minKeys: 1 }),
  }),
  fc.record({
    type: fc.constant('score'),
    instructions: structured,
    criteria: fc.array(structured, { minLength: 1, maxLength: 4 }),
  }),
)

const typesafeRequests = fc.record({
  state: structured,
  questions: fc.dictionary(words.filter(isPlain), typesafeQuestions, { minKeys: 1, maxKeys: 4 }),
})

/** Names that every parser keeps as they are. */
function isPlain(key: string): boolean {
  return key !== '__proto__'
}

/** Requests without their model that the strict upstream of a form accepts. */
export const requests: Readonly<Record<Form, fc.Arbitrary<object>>> = {
  openai: openAiRequests,
  typesafe: typesafeRequests,
}
