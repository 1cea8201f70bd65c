/** The same conversation of 100 turns with tools, as each door expects it. */
const text = 'The quick brown fox jumps over the lazy dog, and then it rests a while. '.repeat(3)
const input = { city: 'Lima' }
const toolNames = ['weather', 'news', 'stocks', 'maps', 'mail']
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
}

/** The doors that a conversation is written for. */
export type Conversation = 'chat' | 'messages' | 'responses'

export const conversations: Readonly<Record<Conversation, object>> = {
  chat: {
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'system', content: text },
      ...turns((id) => [
        { role: 'user', content: text },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id,
              type: 'function',
              function: { name: 'weather', arguments: JSON.stringify(input) },
            },
          ],
        },
        { role: 'tool', tool_call_id: id, content: text },
        { role: 'assistant', content: text },
      ]),
    ],
    tools: toolNames.map((name) => ({
      type: 'function',
      function: { name, description: text, parameters: schema },
    })),
  },
  messages: {
    model: 'm',
    max_tokens: 100,
    system: text,
    messages: turns((id) => [
      { role: 'user', content: text },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'weather', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
      { role: 'assistant', content: text },
    ]),
    tools: toolNames.map((name) => ({ name, description: text, input_schema: schema })),
  },
  responses: {
    model: 'm',
    max_output_tokens: 100,
    instructions: text,
    input: turns((id) => [
      { role: 'user', content: text },
      { type: 'function_call', call_id: id, name: 'weather', arguments: JSON.stringify(input) },
      { type: 'function_call_output', call_id: id, output: text },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
    ]),
    tools: toolNames.map((name) => ({
      type: 'function',
      name,
      description: text,
      parameters: schema,
    })),
  },
}

function turns(write: (callId: string) => readonly object[]): object[] {
  return Array.from({ length: 25 }, (_, turn) => write(`call_${turn}`)).flat()
}
