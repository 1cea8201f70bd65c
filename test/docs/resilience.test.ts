import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/* Runs every configuration on the page unchanged. */

const page = readFileSync('docs/resilience.md', 'utf8')
const examples = Array.from(page.matchAll(/^```toml\n([^]*?)^```$/gm), ([, text = '']) => text)

const answer = json(completion())
const message = json({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** Gives every variable that a file names a key of its own. */
function fillVariables(config: string): Record<string, string> {
  const names = config.match(/"[A-Z][A-Z_]+"/g) ?? []
  return Object.fromEntries(names.map((name, at) => [name.slice(1, -1), `key-${at}`]))
}

describe.each(examples.map((config) => [config]))('the example %#', (config) => {
  test('every id of the file is listed and served, without a warning', async () => {
    const { gateway, get, chat, upstream } = await watchedGateway(config, {
      env: fillVariables(config),
    })
    upstream.always((call) => (call.url.endsWith('/messages') ? message : answer)(call))
    expect(gateway.overview.warnings).toEqual([])
    const { data } = (await (await get('/v1/models')).json()) as { data: { id: string }[] }
    expect(data.length).toBeGreaterThan(0)
    for (const { id } of data) {
      const response = await chat({ model: id, messages: [{ role: 'user', content: 'Hi' }] })
      expect([id, response.status]).toEqual([id, 200])
    }
  })
})

test('the page has examples', () => {
  expect(examples.length).toBeGreaterThan(0)
})
