import { expect, test } from 'vitest'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * The log, the console and `/admin/requests` show why a request was refused. Whatever a client writes into a request,
 * the reason holds nothing of it.
 */

const canary = 'canary'
const schema = {
  type: 'object',
  properties: { [canary]: { type: canary, enum: [canary], $ref: `#/${canary}` } },
  required: [canary],
  $defs: { [canary]: { type: 'object', properties: { [canary]: { $ref: canary } } } },
}
const call = { id: canary, type: 'function', function: { name: canary, arguments: canary } }

/** A request of each API in which each text is a canary, and each name that the client chooses. */
const requests: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    model: 'm',
    messages: [
      { role: 'system', content: canary },
      { role: 'user', content: [{ type: 'text', text: canary }], name: canary },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: canary, content: canary },
    ],
    tools: [
      { type: 'function', function: { name: canary, description: canary, parameters: schema } },
    ],
    tool_choice: { type: 'function', function: { name: canary } },
    response_format: { type: 'json_schema', json_schema: { name: canary, schema } },
    stop: [canary],
    user: canary,
    metadata: { [canary]: canary },
  },
  '/v1/messages': {
    model: 'm',
    max_tokens: 5,
    system: [{ type: 'text', text: canary }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: canary }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: canary, name: canary, input: { [canary]: canary } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: canary, content: canary }] },
    ],
    tools: [{ name: canary, description: canary, input_schema: schema }],
    tool_choice: { type: 'tool', name: canary },
    stop_sequences: [canary],
    metadata: { user_id: canary },
  },
  '/v1/responses': {
    model: 'm',
    instructions: canary,
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: canary }] },
      { type: 'function_call', call_id: canary, name: canary, arguments: canary },
      { type: 'function_call_output', call_id: canary, output: canary },
    ],
    tools: [{ type: 'function', name: canary, description: canary, parameters: schema }],
    text: { format: { type: 'json_schema', name: canary, schema } },
    metadata: { [canary]: canary },
  },
  '/v1/embeddings': { model: 'e', input: [canary, canary], user: canary, input_type: canary },
  '/v1/rerank': {
    model: 'r',
    query: canary,
    documents: [canary, { text: canary }],
    rank_fields: [canary],
  },
}

/** The least request of each API, which strict providers refuse only for what is added. */
const plain: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  },
  '/v1/messages': {
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  },
  '/v1/responses': {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
  },
  '/v1/embeddings': { model: 'e', input: ['Hi'] },
}

/** Values of every type, with the canary where one can be. */
const wrong: readonly unknown[] = [canary, { [canary]: canary, type: canary }, 7]

/** Lists the request with each of its values replaced by a wrong one, and with each object holding one member more. */
function listWrong(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return [
      ...wrong,
      ...value.flatMap((item, at) => listWrong(item).map((other) => value.with(at, other))),
    ]
  }
  if (typeof value !== 'object' || value === null) return [...wrong]
  const members = Object.entries(value)
  return [
    ...wrong,
    { ...value, [canary]: canary },
    ...members.flatMap(([name, member]) =>
      name === 'model' ? [] : listWrong(member).map((other) => ({ ...value, [name]: other })),
    ),
  ]
}

const providers = [
  ['anthropic', ''],
  ['google', ''],
  ['bedrock', 'base_url = "eu-central-1"'],
  ['cohere', ''],
] as const

test.each(providers)(
  'no reason of a refused request to %s holds its texts or names',
  async (kind, more) => {
    const embeds = kind === 'anthropic' ? '' : '{ id = "e", capabilities = ["embed"] },'
    const ranks = kind === 'cohere' ? '{ id = "r", capabilities = ["rerank"] },' : ''
    const gateway = await watchedGateway(
      `[[providers]]\nname = "p"\nkind = "${kind}"\napi_key_env = "P_KEY"\nstrict = true\n${more}\nmodels = [{ id = "m" }, ${embeds} ${ranks}]`,
      { env: { P_KEY: 'a-key' } },
    )
    // A request that is not refused fails at once.
    gateway.upstream.always(() => {
      throw new Error('not called')
    })
    let refusals = 0
    for (const [path, request] of [...Object.entries(requests), ...Object.entries(plain)]) {
      gateway.log.length = 0
      // At once, so that the waits of those that are not refused are one.
      const pending = listWrong(request).map((body) =>
        gateway.get(path, { method: 'POST', body: JSON.stringify(body) }),
      )
      await gateway.clock.advance(60_000)
      await Promise.all(pending)
      const reasons = gateway.log.flatMap(({ fields }) => fields['reason'] ?? [])
      refusals += reasons.length
      expect(reasons.filter((reason) => String(reason).includes(canary))).toEqual([])
    }
    expect(refusals).toBeGreaterThan(150)
  },
)
