import { describe, expect, test } from 'vitest'
import { json, stream } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, event, message, readOutcome } from './support.ts'

const text = { type: 'text', text: 'Hello' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }

const container = { id: 'container_1', expires_at: '2026-11-24T14:00:00Z' }

test('the container of an answer is on the choice', async () => {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(json(message([{ type: 'text', text: 'ok' }], { container })))
  expect(await (await chat(asking())).json()).toMatchObject({ choices: [{ container }] })
})

test.each([
  ['the end', null, container],
  ['the start', container, undefined],
  ['the start, and is null at the end', container, null],
  ['both', { ...container, id: 'container_0' }, container],
])('a container that a stream names at %s is on its last chunk', async (_, first, last) => {
  const { chat, upstream } = await anthropicGateway()
  const started = message([], { container: first, stop_reason: null })
  upstream.next(
    stream([
      event('message_start', { message: started }),
      event('message_delta', { delta: { stop_reason: 'end_turn', container: last }, usage: {} }),
      event('message_stop'),
    ]),
  )
  const events = await (await chat(asking({ stream: true }))).text()
  expect(events).toContain(`"finish_reason":"stop","container":${JSON.stringify(container)}`)
})

describe('blocks', () => {
  test('an answer with calls and no text has null content', async () => {
    expect(await readOutcome(message([call]))).toMatchObject({ content: null })
    expect(await readOutcome(message([{ ...text, text: '' }, call]))).toMatchObject({ content: '' })
    expect(await readOutcome(message([]))).toMatchObject({ content: '' })
  })

  test('a call without input gets an empty object as arguments', async () => {
    const { calls } = await readOutcome(message([{ type: 'tool_use', id: 'toolu_1', name: 'f' }]))
    expect(calls).toEqual([
      { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{}' } },
    ])
  })

  test('blocks of vendor-run tools and of unknown types are not shown', async () => {
    const outcome = await readOutcome(
      message([
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { q: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
        { type: 'hologram', text: 'not shown' },
        { type: 'hologram', text: { x: 1 }, id: 5 },
        text,
      ]),
    )
    expect(outcome).toMatchObject({ content: 'Hello', calls: [], finish: 'stop' })
  })

  test('an answer without an id gets an id of the gateway', async () => {
    const { answer } = await readOutcome(message([text], { id: undefined }))
    expect(answer).toHaveProperty('id', expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/))
  })
})

describe('thinking', () => {
  const blocks = [
    { type: 'thinking', thinking: 'One. ', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'ZGF0YQ' },
    { type: 'thinking', thinking: 'Two.', signature: 'bmFs' },
  ]

  test('thinking texts are joined into reasoning_content, and all blocks are in thinking_blocks', async () => {
    const { message: shown } = await readOutcome(message([...blocks, text]))
    expect(shown).toEqual({
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'One. Two.',
      thinking_blocks: blocks,
      provider_content: { family: 'anthropic', content: [...blocks, text] },
    })
  })

  test('the next request returns the signed blocks to the vendor unchanged', async () => {
    const asked = { reasoning_effort: 'low' }
    const { message: shown } = await readOutcome(message([...blocks, text, call]), asked)
    expect(shown).toMatchObject({ thinking_blocks: blocks })

    const { chat, upstream } = await anthropicGateway()
    upstream.next(json(message([text])))
    const result = { role: 'tool', tool_call_id: 'toolu_1', content: 'x' }
    await chat(asking({ ...asked, messages: [{ role: 'user', content: 'Hi' }, shown, result] }))
    expect(upstream.body()).toMatchObject({
      thinking: { type: 'enabled' },
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [...blocks, text, call] },
        { role: 'user' },
      ],
    })
  })

  test('thinking without text gives no reasoning_content', async () => {
    const silent = { type: 'thinking', thinking: '', signature: 'c2ln' }
    const { message: shown } = await readOutcome(message([silent, text]))
    expect(shown).not.toHaveProperty('reasoning_content')
  })
})
