import { afterAll, beforeAll, expect, test } from 'vitest'
import { upstreamKey } from '../../scripts/conformance/upstream/dialect.ts'
import { startUpstream, type Upstream } from '../../scripts/conformance/upstream/server.ts'
import {
  clockTool,
  taskFile,
  taskSentence,
  taskText,
} from '../../scripts/conformance/upstream/task.ts'
import { gatewayOver } from '../node/support/gateway-over.ts'
import { blocksOf } from './shell.ts'

/* Runs a task as Claude Code does, with each configuration of the page, against the rules of its upstream. */

const prefix = 'toml claude-code-'
const blocks = blocksOf('docs/clients.md').filter(({ info }) => info.startsWith(prefix))

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(() => upstream.close())

/** The configuration with the address, the key and the scenario of the strict upstream. */
function pointToUpstream(text: string, name: string): string {
  const base = `base_url = "${upstream.address}/${name}/v1"\napi_key_env = "UPSTREAM_KEY"`
  return text
    .replace(/^(?:base_url|api_key_env) = .*\n/gm, '')
    .replace(/^kind = .*$/m, (line) => `${line}\n${base}`)
    .replace(/^id = "(.*)"$/m, (line, id) => `${line}\nupstream_id = "${id}--task"`)
}

const path = `/tmp/${taskFile}`
const anything = { type: 'object', additionalProperties: true }
const tools = ['Write', 'Bash', 'Read', `mcp__plugin_registry_records__${clockTool}`].map(
  (name) => ({ name, description: name, input_schema: anything }),
)

interface Answer {
  readonly content: readonly {
    readonly type: string
    readonly id?: string
    readonly text?: string
  }[]
}

test('the page has a configuration for each of these', () => {
  expect(blocks.map(({ info }) => info.slice(prefix.length))).toEqual([
    'deepseek',
    'moonshot',
    'zai',
    'minimax',
    'qwen',
    'ollama',
    'llamacpp',
  ])
})

test.each(blocks.map(({ info, text }) => ({ name: info.slice(prefix.length), text })))(
  'Claude Code does its task on $name',
  async ({ name, text }) => {
    upstream.forget()
    const gateway = await gatewayOver(pointToUpstream(text, name), {
      env: { UPSTREAM_KEY: upstreamKey },
    })
    const model = /^id = "(.*)"$/m.exec(text)?.[1]
    const messages: object[] = [
      { role: 'user', content: [{ type: 'text', text: `Create the file ${path}.` }] },
      { role: 'system', content: 'The date is today.' },
    ]
    let said: string | undefined
    for (let turn = 0; said === undefined && turn < 8; turn++) {
      const response = await gateway.fetch(
        new Request('http://gateway.test/v1/messages?beta=true', {
          method: 'POST',
          body: JSON.stringify({
            model,
            max_tokens: 32_000,
            system: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
            thinking: { type: 'adaptive', display: 'omitted' },
            output_config: { effort: 'high' },
            metadata: { user_id: 'u' },
            tools,
            messages,
          }),
        }),
      )
      expect(response.status, await response.clone().text()).toBe(200)
      // The gateway's own answer.
      const { content } = (await response.json()) as Answer
      const calls = content.filter(({ type }) => type === 'tool_use')
      messages.push({ role: 'assistant', content })
      messages.push({
        role: 'user',
        content: calls.map(({ id }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: taskText,
        })),
      })
      if (calls.length === 0) said = content.find(({ type }) => type === 'text')?.text
    }
    expect(said).toBe(taskSentence)
    const faults = upstream.exchanges.filter(
      ({ refusal, lacksProof, misread }) => refusal || lacksProof || misread !== undefined,
    )
    expect(faults).toEqual([])
  },
)
