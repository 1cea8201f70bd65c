import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import type { Model } from '../../src/core/provider.ts'
import { UntranslatableError } from '../../src/core/untranslatable-error.ts'
import type { ChatDoor } from '../../src/data-plane/index.ts'
import { messagesDoor } from '../../src/doors/messages/door.ts'
import { responsesDoor } from '../../src/doors/responses/door.ts'
import { kinds } from '../../src/providers/index.ts'
import { CancelScope } from '../../src/wire/cancel-scope.ts'
import { TimeSlice } from '../../src/wire/time-slice.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { apiKinds, bindChat } from '../support/translated-kinds.ts'

const clock = new ManualClock()
const slice = new TimeSlice(clock, new CancelScope(clock))

/** A link of each translated API, and one of the OpenAI format. */
const links = [...apiKinds, 'openai'].map((name) => {
  const kind = kinds.find((each) => each.name === name)
  const chat = kind && bindChat(kind)
  // A door reads only these members of a link.
  return [name, { id: 'm', upstreamId: 'model', chat, native: {} } as unknown as Model] as const
})

const text = fc.constantFrom('', 'a', 'What?', '🌍')
const id = fc.constantFrom('a', 'b', 'call:1')
const pixel = 'iVBORw0KGgo='
const address = fc.constantFrom('https://a.test/b.png', 'http://a.test', 'ftp://a', 'gs://a/b')
const json = fc.constantFrom({}, { a: 1 }, { a: { b: ['c'] } })

const source = fc.oneof(
  fc.constantFrom('image/png', 'image/tiff', 'application/pdf').map((media_type) => ({
    type: 'base64',
    media_type,
    data: pixel,
  })),
  address.map((url) => ({ type: 'url', url })),
  fc.constant({ type: 'file', file_id: 'f' }),
)
const leaf = fc.oneof(
  text.map((words) => ({ type: 'text', text: words })),
  source.map((from) => ({ type: 'image', source: from })),
  source.map((from) => ({ type: 'document', source: from })),
  text.map((data) => ({
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data },
  })),
)
const block = fc.oneof(
  leaf,
  fc.record({
    type: fc.constant('tool_use'),
    id,
    name: fc.constantFrom('f', 'no such'),
    input: json,
  }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: id,
    content: fc.oneof(text, fc.array(leaf, { maxLength: 3 })),
    is_error: fc.boolean(),
  }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.constantFrom({ type: 'redacted_thinking', data: 'x' }, { type: 'new_block', x: 1 }),
)
const effort = fc.constantFrom('low', 'high', 'max')
const messagesBody = fc.record(
  {
    model: fc.constant('m'),
    max_tokens: fc.constantFrom(1, 64_000),
    messages: fc.array(
      fc.record({
        role: fc.constantFrom('user', 'assistant', 'system'),
        content: fc.oneof(text, fc.array(block, { maxLength: 4 })),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    system: fc.oneof(text, fc.array(text.map((words) => ({ type: 'text', text: words })))),
    tools: fc.array(
      fc.oneof(
        fc.record({ name: fc.constantFrom('f', 'no such'), input_schema: json }),
        fc.constant({ type: 'web_search_20250305', name: 'web_search' }),
      ),
    ),
    tool_choice: fc.constantFrom({ type: 'any' }, { type: 'tool', name: 'f' }, { type: 'auto' }),
    output_config: fc.record(
      { effort, format: fc.constant({ type: 'json_schema', schema: { type: 'object' } }) },
      { requiredKeys: [] },
    ),
    thinking: fc.constantFrom({ type: 'enabled', budget_tokens: 1024 }, { type: 'adaptive' }),
    stop_sequences: fc.array(text, { maxLength: 6 }),
    temperature: fc.constantFrom(0, 1.5),
  },
  { requiredKeys: ['model', 'max_tokens', 'messages'] },
)

const part = fc.oneof(
  text.map((words) => ({ type: 'input_text', text: words })),
  text.map((words) => ({ type: 'output_text', text: words })),
  address.map((image_url) => ({ type: 'input_image', image_url })),
  fc.constantFrom(
    { type: 'input_image', image_url: `data:image/tiff;base64,${pixel}` },
    { type: 'input_image', file_id: 'f' },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pixel}` },
    { type: 'input_file', file_url: 'https://a.test/b.pdf' },
    { type: 'input_audio', input_audio: { data: pixel, format: 'wav' } },
  ),
)
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }))
const name = fc.constantFrom('f', 'no such', 'a__b')
const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content }),
  fc.record(
    {
      type: fc.constant('function_call'),
      call_id: id,
      name,
      namespace: name,
      arguments: fc.constantFrom('{}', '', '{"a":1}', '{"a'),
    },
    { requiredKeys: ['type', 'call_id', 'name', 'arguments'] },
  ),
  fc.record({
    type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
    call_id: id,
    output: content,
  }),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name, input: text }),
  fc.record({ type: fc.constant('reasoning'), summary: fc.constant([]), encrypted_content: text }),
  fc.constantFrom(
    { type: 'item_reference', id: 'rs_1' },
    { type: 'item_reference', id: 'msg_1' },
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'computer_call', call_id: 'c' },
  ),
)
const responsesBody = fc.record(
  {
    model: fc.constant('m'),
    input: fc.oneof(text, fc.array(item, { maxLength: 6 })),
    instructions: text,
    tools: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('function'), name, parameters: json }),
        fc.record({ type: fc.constant('custom'), name }),
        fc.constant({ type: 'web_search' }),
      ),
    ),
    tool_choice: fc.constantFrom('required', 'none', { type: 'function', name: 'f' }),
    previous_response_id: fc.constant('resp_1'),
    reasoning: fc.record({ effort }),
    max_output_tokens: fc.constantFrom(1, 64_000),
    temperature: fc.constantFrom(0, 1.5),
  },
  { requiredKeys: ['model', 'input'] },
)

/** True when the body has a value at the path, or an object that lacks only the last member. */
function hasPlace(body: unknown, path: string): boolean {
  let at: unknown = body
  for (const step of path.split('.').slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false
    at = Reflect.get(at, step)
  }
  return typeof at === 'object' && at !== null
}

/** Translates a body for a link, and returns the paths that the answer would name. */
async function listNamed(door: ChatDoor, link: Model, body: object): Promise<readonly string[]> {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const request = new Request('http://gateway.test')
  try {
    const call = await door.read({ bytes, request, slice, clock, isUtf8 })
    const bound = call.bind(link)
    const dropped = bound.listUnsupported()
    bound.buildRequest()
    return dropped
  } catch (error) {
    if (error instanceof UntranslatableError) return error.param === undefined ? [] : [error.param]
    if (error instanceof GatewayError && error.code === 'LM-1001') return [error.detail.param ?? '']
    throw error
  }
}

describe.each([
  ['messages', messagesDoor, messagesBody],
  ['responses', responsesDoor, responsesBody],
] as const)('any request of the %s API', (_, door, bodies) => {
  test.each(links)(
    'is translated for %s, or names a place in the body of the client',
    async (__, link) => {
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const named = await listNamed(door, link, body)
          expect(named.filter((path) => !hasPlace(body, path))).toEqual([])
        }),
        { numRuns: 300 },
      )
    },
  )
})
