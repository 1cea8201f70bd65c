import { describe, expect, test } from 'vitest'
import { keyedGateway, pricedProvider, prompt, readSpend } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * `tool_costs_per_1k`: the fees of the tools that a vendor runs.
 */

const fees =
  'tool_costs_per_1k = { web_search = 10, web_fetch = 1, file_search = 2, code_execution = 30 }\n'
const claude = pricedProvider.replace('kind = "openai"', 'kind = "anthropic"')
const messages = '/v1/messages'
const responses = '/v1/responses'
const ask = (...tools: readonly object[]) => prompt(8, { max_tokens: 10, tools })
const search = { type: 'web_search_20250305', name: 'web_search' }

interface Explained {
  readonly reservation: number
  readonly links: readonly { readonly tools: readonly Tool[] }[]
}

interface Tool {
  readonly name: string
  readonly calls: number
  readonly bounded: boolean
}

async function explain(config: string, body: object, path = '/v1/chat/completions') {
  const gateway = await keyedGateway(config)
  const answer = await gateway.admin('POST', '/admin/explain', { path, body })
  return answer.body as unknown as Explained
}

/** What the fees add to a reservation, in dollars, and the calls of the tools that are reserved. */
async function reserve(body: object, path?: string, kind = pricedProvider, more = '') {
  const { reservation, links } = await explain(kind + fees + more, body, path)
  const without = await explain(kind, body, path)
  const calls = (links[0]?.tools ?? []).map(
    ({ name, calls: count, bounded }) => `${name} ${count}${bounded ? '' : '+'}`,
  )
  return [Number((reservation - without.reservation).toFixed(9)), ...calls]
}

describe('a reservation', () => {
  test('counts as many calls as the tools of Claude allow', async () => {
    const twice = { ...search, max_uses: 2 }
    expect(await reserve(ask(twice), messages, claude)).toEqual([0.02, 'web_search 2'])
    const fetching = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 3 }
    expect(await reserve(ask(twice, fetching), messages, claude)).toEqual([
      0.023,
      'web_search 2',
      'web_fetch 3',
    ])
  })

  test('counts `reserve_tool_calls` where the request has no bound', async () => {
    expect(await reserve(ask(search), messages, claude)).toEqual([0.04, 'web_search 4+'])
    expect(await reserve(ask(search), messages, claude, 'reserve_tool_calls = 7\n')).toEqual([
      0.07,
      'web_search 7+',
    ])
    // The Responses API has no such member.
    const body = { model: 'm', input: 'Hi', tools: [{ type: 'web_search', max_uses: 1 }] }
    expect(await reserve(body, responses)).toEqual([0.04, 'web_search 4+'])
  })

  test('counts `max_tool_calls` if that is more', async () => {
    const body = { model: 'm', input: 'Hi', tools: [{ type: 'web_search' }] }
    expect(await reserve({ ...body, max_tool_calls: 9 }, responses)).toEqual([
      0.09,
      'web_search 9+',
    ])
    expect(await reserve({ ...body, max_tool_calls: 1 }, responses)).toEqual([
      0.04,
      'web_search 4+',
    ])
  })

  test('counts no tools of the client', async () => {
    const called = { type: 'function', function: { name: 'web_search', parameters: {} } }
    expect(await reserve(ask(called))).toEqual([0])
    const own = { name: 'web_search', input_schema: { type: 'object' } }
    expect(await reserve(ask(own), messages, claude)).toEqual([0])
    expect(await reserve(prompt(8, { max_tokens: 10 }))).toEqual([0])
  })

  test.each<[string, object]>([
    ['web_search_options', { web_search_options: {} }],
    ['a literal extra_body', { extra_body: { tools: [{ type: 'web_search' }] } }],
    ['search_parameters', { search_parameters: { mode: 'on' } }],
  ])('counts searches that %s asks for', async (_, more) => {
    const body = prompt(8, { max_tokens: 10, ...more })
    expect(await reserve(body)).toEqual([0.04, 'web_search 4+'])
  })

  test('counts all tools for one of an unknown type, and for a stored prompt', async () => {
    const body = { model: 'm', input: 'Hi', max_output_tokens: 16 }
    const all = (10 + 1 + 2 + 30) * 4e-3
    const [unknown] = await reserve({ ...body, tools: [{ type: 'telepathy' }] }, responses)
    expect(unknown).toBeCloseTo(all, 9)
    const [stored] = await reserve({ ...body, prompt: { id: 'pmpt_1' } }, responses)
    expect(stored).toBeCloseTo(all, 9)
  })

  const added = (definition: object) => ({
    role: 'system',
    content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }],
  })
  const user = { role: 'user', content: 'Hi' }

  test.each<[string, object, string, string]>([
    [
      'a tool_addition',
      { max_tokens: 10, messages: [user, added({ ...search, max_uses: 4 })] },
      messages,
      claude,
    ],
    [
      'a tool_addition among the blocks of a user',
      {
        max_tokens: 10,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'mid_conv_system', content: added({ ...search, max_uses: 4 }).content },
            ],
          },
        ],
      },
      messages,
      claude,
    ],
    [
      'additional_tools',
      { input: [user, { type: 'additional_tools', tools: [{ type: 'web_search' }] }] },
      responses,
      pricedProvider,
    ],
  ])('counts the tools that %s defines in the conversation', async (_, body, path, kind) => {
    const [fee, calls] = await reserve({ model: 'm', ...body }, path, kind)
    expect(fee).toBe(0.04)
    expect(calls).toMatch(/^web_search 4/)
  })

  test('counts a definition that hides behind an escape', async () => {
    const gateway = await keyedGateway(claude + fees)
    const key = await gateway.key({ budget_max: 0.03 })
    const text = JSON.stringify({ model: 'm', max_tokens: 10, messages: [user, added(search)] })
    const body = text.replace('"definition"', String.raw`"d\u0065finition"`)
    const refused = await gateway.get(messages, { method: 'POST', headers: key.headers, body })
    expect(refused.status).toBe(402)
    expect(gateway.upstream.requests).toEqual([])
  })

  test('counts the tokens that results add to the prompt', async () => {
    const twice = { ...search, max_uses: 2 }
    const more = 'reserve_tool_tokens = 1000\n'
    expect(await reserve(ask(twice), messages, claude, more)).toEqual([0.022, 'web_search 2'])
  })

  test.each([fees, 'cost_per_1k_web_searches = 10\n'])(
    'refuses a request whose fees would pass the cap, before any call: %s',
    async (prices) => {
      const gateway = await keyedGateway(claude + prices)
      const key = await gateway.key({ budget_max: 0.03 })
      const refused = await gateway.ask(key, ask({ ...search, max_uses: 3 }), messages)
      expect(refused.status).toBe(402)
      expect(gateway.upstream.requests).toEqual([])
    },
  )
})

describe('the tools of a conversation that the vendor has stored', () => {
  const body = { model: 'm', input: 'Hi', max_output_tokens: 16 }
  const stored = { ...body, previous_response_id: 'resp_1' }
  const all = (10 + 1 + 2 + 30) * 4e-3
  const explicit = 'reserve_tool_calls = 4\n'

  test('are not reserved without `reserve_tool_calls`', async () => {
    expect(await reserve(stored, responses)).toEqual([0])
  })

  test.each<[string, object]>([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
  ])('are reserved with it, all that have a price, for %s', async (_, more) => {
    const [fee, ...tools] = await reserve({ ...body, ...more }, responses, pricedProvider, explicit)
    expect(fee).toBeCloseTo(all, 9)
    expect(tools).toEqual(['web_search 4+', 'web_fetch 4+', 'file_search 4+', 'code_execution 4+'])
    expect(await reserve(body, responses, pricedProvider, explicit)).toEqual([0])
  })

  test('are reserved beside those of the request', async () => {
    const tools = [{ type: 'web_search' }]
    const [fee, ...shown] = await reserve(
      { ...stored, tools, max_tool_calls: 6 },
      responses,
      pricedProvider,
      explicit,
    )
    expect(fee).toBeCloseTo(all + 2 * 0.01, 9)
    expect(shown).toContain('web_search 6+')
  })

  test('are those of cached content of Gemini too', async () => {
    const google = pricedProvider.replace('kind = "openai"', 'kind = "google"')
    const asked = prompt(8, { max_tokens: 10, cached_content: 'cachedContents/a' })
    const [fee] = await reserve(asked, undefined, google, explicit)
    expect(fee).toBeCloseTo(all, 9)
  })
})

describe('a settlement', () => {
  test('charges the calls that the answer counts', async () => {
    const gateway = await keyedGateway(claude + fees)
    const key = await gateway.key({ budget_max: 1 })
    const server_tool_use = { web_search_requests: 2, web_fetch_requests: 1 }
    const usage = { input_tokens: 100, output_tokens: 10, server_tool_use }
    const content = [{ type: 'text', text: 'Hi' }]
    gateway.upstream.next(json({ type: 'message', role: 'assistant', content, usage }))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: 120_000n + 20_000_000n + 1_000_000n }])
    expect(await readSpend(gateway, key.id)).toBe(0.02112)
  })
})
