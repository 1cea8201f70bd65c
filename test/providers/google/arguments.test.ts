import { describe, expect, test } from 'vitest'
import { readStream } from '../../support/chunks.ts'
import { merges } from '../../support/merged-deltas.ts'
import { json, type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import { answered, asking, googleGateway, saying } from './support.ts'

/** JSON that parsing and serializing would change in every member. */
const written =
  '{"id":12345678901234567890,"n":1.0,"big":1e400,"a\\u003cb":"\\"{ } ","10":1,"9":[2]}'

/** An answer whose second part is a call with these arguments. */
function calling(args: string, indent?: number): string {
  const call = { functionCall: { name: 'f', args: 'ARGS' } }
  const parts = [{ text: 'So "args": {}' }, call, { functionCall: { name: 'g' } }]
  const response = answered(parts, { finishReason: 'STOP' })
  return JSON.stringify(response, undefined, indent).replace('"ARGS"', args)
}

const ways: Readonly<Record<string, { readonly answer: Responder; readonly isStream: boolean }>> = {
  whole: { answer: whole(calling(written)), isStream: false },
  'printed for the eye': {
    answer: whole(calling(written.replace(/(?<=[,{])"|(?<=":)/g, '\n   $&'), 2)),
    isStream: false,
  },
  streamed: { answer: stream([`data: ${calling(written)}\r\n\r\n`]), isStream: true },
}

describe.each(Object.entries(ways))('%s', (_way, { answer, isStream }) => {
  test('arguments reach the client, and return to the model, exactly as the model wrote them', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(answer, json(saying('Done.')))
    const response = await chat(asking({ stream: isStream }))
    const message = isStream ? await merged(response) : await readMessage(response)
    const { tool_calls: calls = [] } = message
    expect(calls.map(({ function: called }) => called.arguments)).toEqual([written, '{}'])

    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' }))
    const { messages } = asking() as { messages: object[] }
    await chat(asking({ messages: [...messages, message, ...results] }))
    expect(upstream.text()).toContain(`{"functionCall":{"name":"f","args":${written}}}`)
  })
})

interface Message {
  readonly tool_calls?: readonly { readonly id: string; readonly function: { arguments: string } }[]
}

async function readMessage(response: Response): Promise<Message> {
  const { choices } = (await response.json()) as { choices: [{ message: Message }] }
  return choices[0].message
}

async function merged(response: Response): Promise<Message> {
  const [merge] = Object.values(merges)
  return merge ? merge((await readStream(response)).chunks) : {}
}
