import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { asking, messagesGateway, post } from './support.ts'

/* Tools that Anthropic defines and the client runs have no schema: only Claude knows them. */

const bash = { type: 'bash_20250124', name: 'bash' }
const editor = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }
const memory = { type: 'memory_20250818', name: 'memory' }
const computer = {
  type: 'computer_20250124',
  name: 'computer',
  display_width_px: 1024,
  display_height_px: 768,
}
const search = { type: 'web_search_20250305', name: 'web_search' }
const look = { name: 'look', input_schema: { type: 'object', properties: {} } }

function configure(model: string, settings = ''): string {
  return `
[[providers]]
name = "p"
kind = "bedrock"
api_key_env = "P_KEY"
${settings}
models = [{ id = "m", upstream_id = "${model}" }]
`
}

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'

function answer(content: readonly object[]): object {
  return {
    output: { message: { content } },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1 },
  }
}

describe('a tool that the client runs', () => {
  test.each([
    [bash, ['computer-use-2025-01-24']],
    [computer, ['computer-use-2025-01-24']],
    [memory, ['context-management-2025-06-27']],
    [editor, undefined],
  ])('goes to Claude on Bedrock with its beta feature: $name', async (tool, betas) => {
    const gateway = await messagesGateway(configure(claude, 'strict = true'))
    const input = { command: 'ls' }
    gateway.upstream.next(
      json(answer([{ toolUse: { toolUseId: 'tooluse_1', name: tool.name, input } }])),
    )
    const response = await post(gateway, asking({ tools: [look, tool] }))
    expect(response.status, await response.clone().text()).toBe(200)
    const sent = gateway.upstream.body() as Record<string, Record<string, unknown>>
    expect(sent['toolConfig']).toMatchObject({ tools: [{ toolSpec: { name: 'look' } }] })
    expect(sent['additionalModelRequestFields']?.['tools']).toEqual([tool])
    expect(sent['additionalModelRequestFields']?.['anthropic_beta']).toEqual(betas)
    expect(await response.json()).toMatchObject({
      content: [{ type: 'tool_use', name: tool.name, input }],
      stop_reason: 'tool_use',
    })
  })

  test('can be chosen, and its results go back', async () => {
    const gateway = await messagesGateway(configure(claude))
    gateway.upstream.next(json(answer([{ text: 'done' }])))
    const response = await post(
      gateway,
      asking({
        tools: [bash],
        tool_choice: { type: 'tool', name: 'bash' },
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a.txt' }] },
        ],
      }),
    )
    expect(response.status, await response.clone().text()).toBe(200)
    expect(response.headers.get('x-gateway-dropped')).toBeNull()
    expect(gateway.upstream.body()).toMatchObject({
      messages: [
        {},
        { content: [{ toolUse: { name: 'bash' } }] },
        { content: [{ toolResult: {} }] },
      ],
      additionalModelRequestFields: {
        tools: [bash],
        tool_choice: { type: 'tool', name: 'bash' },
      },
    })
  })

  test('is said to be left out, or refused when strict, where the model is not Claude', async () => {
    const lenient = await messagesGateway(configure('amazon.nova-pro-v1:0'))
    lenient.upstream.next(json(answer([{ text: 'ok' }])))
    const passed = await post(lenient, asking({ tools: [look, bash] }))
    expect(passed.headers.get('x-gateway-dropped')).toBe('tools.1')
    const strict = await messagesGateway(configure('amazon.nova-pro-v1:0', 'strict = true'))
    const refused = await post(strict, asking({ tools: [look, bash] }))
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('tools.1')
  })

  test('is unlike one that Anthropic runs, which Bedrock does not have', async () => {
    const strict = await messagesGateway(configure(claude, 'strict = true'))
    const refused = await post(strict, asking({ tools: [bash, search] }))
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('tools.1')
  })
})
