import { reasoning } from '../scenario.ts'

/** Pieces of requests for the rows of the rules. */

export const user = { role: 'user', content: 'What is the weather?' }
export const system = { role: 'system', content: 'Be brief.' }

/** An answer with a call. Its id shows that reasoning led to it. */
export function calling(fields: object = {}, id = 'call_thought_1') {
  return {
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: '{}' } }],
    ...fields,
  }
}

export function result(id = 'call_thought_1') {
  return { role: 'tool', tool_call_id: id, content: 'sunny' }
}

export const thoughts = reasoning

export const empty = { type: 'object', properties: {} }

export function tool(name = 'weather', parameters: object | undefined = empty) {
  return { type: 'function', function: { name, ...(parameters && { parameters }) } }
}

export const named = { type: 'function', function: { name: 'weather' } }

export const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

export const text = { type: 'text', text: 'What is this?' }

export const jsonSchema = {
  type: 'json_schema',
  json_schema: { name: 'answer', schema: { type: 'object', properties: {} } },
}
