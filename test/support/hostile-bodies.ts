/** Bodies of maximum length that cost a parser far more than their sender. */

export type Door = 'chat' | 'embeddings' | 'rerank' | 'admin'

export const doorPaths: Readonly<Record<Door, string>> = {
  chat: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  rerank: '/v1/rerank',
  admin: '/admin/keys',
}

/** The valid beginning of a request for each endpoint. */
const beginnings: Readonly<Record<Door, string>> = {
  chat: '{"model":"m","messages":[{"role":"user","content":"x"}]',
  embeddings: '{"model":"m","input":"x"',
  rerank: '{"model":"m","query":"q","documents":["d"]',
  admin: '{"name":"n"',
}

const maxBytes = 10 * 1024 * 1024

/** Repeats `item` up to the maximum body length. */
function filled(before: string, item: string, after: string): Uint8Array {
  const room = maxBytes - before.length - after.length
  const count = Math.floor(room / item.length)
  const items = Buffer.alloc(count * item.length, item, 'latin1')
  return Buffer.concat([Buffer.from(before), items, Buffer.from(after)])
}

/** The same with different items. */
function numbered(before: string, item: (index: number) => string, after: string): Uint8Array {
  const room = maxBytes - before.length - after.length
  const items: string[] = []
  for (let index = 0, length = 0; ; index++) {
    const next = item(index)
    length += next.length
    if (length > room) break
    items.push(next)
  }
  return Buffer.from(before + items.join('') + after)
}

/** Joins `count` items with commas. */
function times(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join()
}

/** Just under the maximum number of values in a body. */
const maxValues = 199_900

type Shape = (beginning: string) => string | Uint8Array

/** Bodies for all endpoints; each follows the beginning of a valid request. */
const anywhere: Readonly<Record<string, Shape>> = {
  'empty objects': (begin) => filled(`${begin},"x":[{}`, ',{}', ']}'),
  'empty arrays': (begin) => filled(`${begin},"x":[[]`, ',[]', ']}'),
  'arrays in arrays': (begin) => filled(`${begin},"x":[[[]]`, ',[[]]', ']}'),
  'empty texts': (begin) => filled(`${begin},"x":[""`, ',""', ']}'),
  'texts with escapes': (begin) => filled(`${begin},"x":["\\n"`, ',"\\n"', ']}'),
  nulls: (begin) => filled(`${begin},"x":[null`, ',null', ']}'),
  members: (begin) => numbered(begin, (at) => `,"k${at}":1`, '}'),
  'members that are repeated': (begin) => filled(begin, ',"k":1', '}'),
  'members with escapes': (begin) => numbered(begin, (at) => `,"\\u006d${at}":1`, '}'),
  'members of one object': (begin) => numbered(`${begin},"x":{"k":1`, (at) => `,"k${at}":1`, '}}'),
  'deep arrays': (begin) => filled(`${begin},"x":`, '[', ''),
  'deep objects': (begin) => filled(`${begin},"x":`, '{"a":', ''),
  'deep arrays that end': (begin) =>
    `${begin},"x":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`,
  'one long text': (begin) => filled(`${begin},"x":"`, 'x', '"}'),
  'one long text of line ends': (begin) => filled(`${begin},"x":"`, '\\n', '"}'),
  'one long text of quotes': (begin) => filled(`${begin},"x":"`, '\\"', '"}'),
  'one long text of backslashes': (begin) => filled(`${begin},"x":"`, '\\\\', '"}'),
  'one long text of NULs': (begin) => filled(`${begin},"x":"`, '\\u0000', '"}'),
  'one long text that never ends': (begin) => filled(`${begin},"x":"`, 'x', ''),
  'one long key': (begin) => filled(`${begin},"`, '\\u006d', '":1}'),
  blanks: (begin) => filled(`${begin},`, ' ', '"x":1}'),
  'line ends': (begin) => filled(`${begin},`, '\r\n', '"x":1}'),
  numbers: (begin) => filled(`${begin},"x":[1`, ',1', ']}'),
  fractions: (begin) => filled(`${begin},"x":[1.5`, ',1.5', ']}'),
  'negative zeros': (begin) => filled(`${begin},"x":[-0`, ',-0', ']}'),
  exponents: (begin) => filled(`${begin},"x":[1e-300`, ',1e-300', ']}'),
  'arrays of numbers': (begin) => {
    const numbers = `[${'1.5,'.repeat(13)}1]`
    return `${begin},"x":[${times(maxValues / 2, () => numbers)}]}`.slice(0, maxBytes)
  },
  'one long number': (begin) => filled(`${begin},"x":`, '1', '}'),
  'one long fraction': (begin) => filled(`${begin},"x":0.`, '1', '}'),
  commas: (begin) => filled(begin, ',', '}'),
  colons: (begin) => filled(`${begin},"x"`, ':', '1}'),
  quotes: (begin) => filled(begin, '"', '}'),
  'closing brackets': (begin) => filled(begin, ']', '}'),
  'as many objects as may be': (begin) => `${begin},"x":[${times(maxValues, () => '{}')}]}`,
  'as many different objects as may be': (begin) =>
    `${begin},"x":[${times(maxValues / 2, (at) => `{"k${at}":1}`)}]}`,
  'as many members as may be': (begin) => `${begin},${times(maxValues, (at) => `"k${at}":1`)}}`,
  'as many numbered members as may be': (begin) =>
    `${begin},${times(maxValues, (at) => `"${at * 20_000}":1`)}}`,
  'as many texts as may be': (begin) =>
    `${begin},"x":[${times(maxValues, (at) => `"${at}${'x'.repeat(40)}"`)}]}`,
}

const message = (parts: string) => `{"model":"m","messages":[{"role":"user","content":[${parts}]}]}`
const calls = (text: string) =>
  `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${text}]}]}`

/** A request with a function for each of these schemas. */
function declaring(...schemas: readonly object[]): string {
  const tools = schemas.map((parameters, at) => ({
    type: 'function',
    function: { name: `f${at}`, parameters },
  }))
  return JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], tools })
}

function named(count: number, member: (at: number) => unknown): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, member(at)]))
}

/** Bodies for one endpoint only. */
const readThere: Readonly<Record<Door, Readonly<Record<string, () => string | Uint8Array>>>> = {
  chat: {
    tools: () => filled('{"model":"m","messages":[{"role":"user"}],"tools":[{}', ',{}', ']}'),
    parts: () => filled('{"model":"m","messages":[{"role":"user","content":[{}', ',{}', ']}]}'),
    'tool calls': () =>
      filled('{"model":"m","messages":[{"role":"user","tool_calls":[{}', ',{}', ']}]}'),
    'as many tools as may be': () =>
      `{"model":"m","messages":[{"role":"user"}],"tools":[${times(maxValues, () => '{}')}]}`,
    'one tool with as many members as may be': () =>
      `{"model":"m","messages":[{"role":"user"}],"tools":[{${times(maxValues, (at) => `"k${at}":1`)}}]}`,
    'as many parts as may be': () => message(times(maxValues, () => '{}')),
    'as many images as may be': () =>
      message(times(maxValues / 4, () => '{"image_url":{"url":"data:,"}}')),
    'as many messages as may be': () =>
      `{"model":"m","messages":[${times(maxValues / 3, () => '{"role":"user","content":"x"}')}]}`,
    'as many calls as may be': () => calls(times(maxValues, () => '{}')),
    'as many messages with calls as may be': () => {
      const call = '{"function":{"name":"f","arguments":"{}"}}'
      return `{"model":"m","messages":[${times(maxValues / 9, () => `{"role":"assistant","tool_calls":[${call}]}`)}]}`
    },
    'a schema that refers to a wide one, again and again': () =>
      declaring({
        $defs: { wide: { type: 'object', properties: named(15_000, () => true) } },
        properties: named(2_000, () => ({ $ref: '#/$defs/wide' })),
      }),
    'a schema that merges a wide one, again and again': () =>
      declaring({
        $defs: { wide: { properties: named(15_000, () => true) } },
        allOf: Array.from({ length: 2_000 }, () => ({ $ref: '#/$defs/wide' })),
      }),
    'a schema of many branches beside many members': () =>
      declaring({
        properties: named(15_000, () => true),
        anyOf: Array.from({ length: 4_900 }, () => ({})),
      }),
    'a schema that refers to a long text, again and again': () =>
      declaring({
        $defs: { long: { type: 'string', description: 'x'.repeat(3_000_000) } },
        properties: named(3_000, () => ({ $ref: '#/$defs/long' })),
      }),
    'a schema that merges a long text, again and again': () =>
      declaring({
        $defs: { long: { required: ['x'.repeat(3_000_000)] } },
        properties: named(3_000, () => ({ allOf: [{ $ref: '#/$defs/long' }, {}] })),
      }),
    'many schemas that double': () => {
      const step = (at: number) => ({ properties: { a: toStep(at + 1), b: toStep(at + 1) } })
      const toStep = (at: number) => ({ $ref: `#/$defs/k${at}` })
      const doubling = { $defs: { ...named(12, step), k12: {} }, ...toStep(0) }
      return declaring(...Array.from({ length: 450 }, () => doubling))
    },
    'an address of many questions': () =>
      filled(
        '{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"gs://b/o',
        '?',
        '\\nx"}}]}]}',
      ),
    'calls of one id': () =>
      calls(times(maxValues / 24, () => '{"id":"c","function":{"name":"f","arguments":"{}"}}')),
    'documents of one name': () =>
      message(
        times(
          maxValues / 24,
          () =>
            '{"type":"file","file":{"filename":"a","file_data":"data:application/pdf;base64,QUJD"}}',
        ),
      ),
    'numbers as content': () =>
      filled('{"model":"m","messages":[{"role":"user","content":[1', ',1', ']}]}'),
    'numbers as messages': () => filled('{"model":"m","messages":[1', ',1', ']}'),
    'a wrong part behind all others': () => message(`${times(maxValues, () => '{}')},5`),
    'an image': () =>
      filled(
        '{"model":"m","messages":[{"role":"user","content":[{"image_url":{"url":"data:image/png;base64,',
        'QUJD',
        '"}}]}]}',
      ),
  },
  embeddings: {
    'token ids': () => filled('{"model":"m","input":[1', ',1', ']}'),
    'wrong token ids': () => filled('{"model":"m","input":[1', ',1.5', ']}'),
    'arrays of token ids': () =>
      `{"model":"m","input":[${times(16_384, () => `[${'1,'.repeat(300)}1]`)}]}`,
    texts: () => `{"model":"m","input":[${times(16_384, () => `"${'x'.repeat(600)}"`)}]}`,
    'parts of one item': () =>
      `{"model":"m","input":[[${times(maxValues / 3, () => '{"type":"text","text":"x"}')}]]}`,
    'an input type of many members': () =>
      `{"model":"m","input":"x","input_type":{${times(maxValues, (at) => `"k${at}":1`)}}}`,
  },
  rerank: {
    documents: () =>
      `{"model":"m","query":"q","documents":[${times(16_384, () => `"${'x'.repeat(600)}"`)}]}`,
    'documents of many members': () =>
      `{"model":"m","query":"q","rank_fields":["k1"],"documents":[{${times(maxValues, (at) => `"k${at}":1`)}}]}`,
    'rank fields': () =>
      `{"model":"m","query":"q","documents":[{"a":"x"}],"rank_fields":[${times(maxValues, () => '"a"')}]}`,
    'numbers as rank fields': () =>
      filled('{"model":"m","query":"q","documents":["d"],"rank_fields":[1', ',1', ']}'),
    'numbers as documents': () => filled('{"model":"m","query":"q","documents":[1', ',1', ']}'),
  },
  admin: {
    'a long name': () => filled('{"name":"', 'x', '"}'),
  },
}

export interface HostileBody {
  readonly door: Door
  readonly name: string
  /** Built on demand: all together take a gigabyte. */
  readonly body: () => Uint8Array
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

const doors: readonly Door[] = ['chat', 'embeddings', 'rerank', 'admin']

export const hostileBodies: readonly HostileBody[] = doors.flatMap((door) => [
  ...Object.entries(anywhere).map(([name, shape]) => ({
    door,
    name,
    body: () => toBytes(shape(beginnings[door])),
  })),
  ...Object.entries(readThere[door]).map(([name, make]) => ({
    door,
    name: `${name} at ${door}`,
    body: () => toBytes(make()),
  })),
  {
    door,
    name: 'bytes that are not UTF-8',
    body: () => {
      const bytes = filled(`${beginnings[door]},"x":"`, 'x', '"}')
      return bytes.fill(0xff, 200, bytes.length - 2)
    },
  },
])
