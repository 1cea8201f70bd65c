import { describe, expect, test } from 'vitest'
import { chunk, completion, done } from '../support/answers.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

/* Reasoning that an upstream writes into the content, between tags. */

const tagged = `
[[providers]]
name = "p"
kind = "vllm"
base_url = "http://up.test/v1"
profile = { reasoning_field = "tags", reasoning_history = "all" }
models = [{ id = "m", upstream_id = "my-model" }]
`

type Block = Readonly<Record<string, unknown>>

const question = { role: 'user', content: 'Hi' }

async function ask(gateway: TestGateway, messages: readonly object[], isStream = false) {
  const body = JSON.stringify({ model: 'm', max_tokens: 64, stream: isStream, messages })
  return (await gateway.get('/v1/messages', { method: 'POST', body })).text()
}

describe('a leading <think> block', () => {
  test('is thinking for the client, and goes back as it came', async () => {
    const gateway = await testGateway(tagged)
    const content = '<think>one plus one</think>\n\nTwo.'
    gateway.upstream.next(json(completion(content)), json(completion('Bye')))
    const answer = JSON.parse(await ask(gateway, [question])) as { content: readonly Block[] }
    expect(answer.content).toMatchObject([
      { type: 'thinking', thinking: 'one plus one' },
      { type: 'text', text: 'Two.' },
    ])
    await ask(gateway, [question, { role: 'assistant', content: answer.content }, question])
    expect(gateway.upstream.body()).toMatchObject({
      messages: [question, { role: 'assistant', content }, question],
    })
  })

  test.each([
    [['<th', 'ink>r', '</think>\n\nHi']],
    [['  <think>', 'r</thi', 'nk>', '\n', '\nHi']],
    [['<think>r</think>', 'Hi']],
    [['<', 'think>r<', '/think>Hi']],
  ])('may be split over the chunks %j', async (pieces) => {
    const gateway = await testGateway(tagged)
    const chunks = pieces.map((content) => chunk({ content }))
    gateway.upstream.next(stream([...chunks, chunk({}, {}, 'stop'), done]))
    const deltas = readDeltas(await ask(gateway, [question], true))
    expect(deltas('thinking')).toBe('r')
    expect(deltas('text')).toBe('Hi')
  })

  test.each([[['<thin', 'g> is no tag']], [['a <think>b</think>']], [['x <', ' y']]])(
    'is none in the text of %j',
    async (pieces) => {
      const gateway = await testGateway(tagged)
      const chunks = pieces.map((content) => chunk({ content }))
      gateway.upstream.next(stream([...chunks, chunk({}, {}, 'stop'), done]))
      const deltas = readDeltas(await ask(gateway, [question], true))
      expect(deltas('thinking')).toBe('')
      expect(deltas('text')).toBe(pieces.join(''))
    },
  )
})

/** Returns a function that joins the deltas of one kind. */
function readDeltas(events: string): (member: 'thinking' | 'text') => string {
  const deltas = events
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (JSON.parse(line.slice(6)) as { readonly delta?: Block }).delta ?? {})
  return (member) => deltas.map((delta) => String(delta[member] ?? '')).join('')
}
