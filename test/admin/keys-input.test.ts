import { beforeEach, describe, expect, test } from 'vitest'
import { LightAbortController } from '../../src/wire/light-abort-controller.ts'
import { settled } from '../support/manual-clock.ts'
import { AdminHarness, bodyLimit, masterKey, refusal } from './harness.ts'

let admin: AdminHarness
let paths: Readonly<Record<string, string>>

beforeEach(async () => {
  admin = new AdminHarness()
  const { id: key } = await admin.newKey({ name: 'before', budget_max: 1 })
  const { id: group } = await admin.newGroup({ name: 'before', budget_max: 1 })
  paths = {
    'POST key': '/admin/keys',
    'PATCH key': `/admin/keys/${key}`,
    'POST key grant': `/admin/keys/${key}/grant`,
    'POST group': '/admin/groups',
    'PATCH group': `/admin/groups/${group}`,
    'POST group grant': `/admin/groups/${group}/grant`,
  }
})

const routes = {
  create: ['POST key', 'POST group'],
  update: ['PATCH key', 'PATCH group'],
  grant: ['POST key grant', 'POST group grant'],
} as const

const send = (route: string, body: unknown, headers?: Record<string, string>) =>
  admin.call(route.split(' ')[0] ?? '', paths[route] ?? '', {
    body,
    headers: { authorization: `Bearer ${masterKey}`, ...headers },
  })

const everyRoute = [...routes.create, ...routes.update, ...routes.grant]

const state = async () =>
  (await admin.call('GET', '/admin/keys')).text + (await admin.call('GET', '/admin/groups')).text

const utf8 = (text: string) => new TextEncoder().encode(text)

describe('a body that is refused as a whole', () => {
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ['nothing', ''],
    ['white space', ' \r\n'],
    ['NUL bytes', new Uint8Array(4)],
    ['plain text', 'canary'],
    ['a form', 'name=canary'],
    ['a cut object', '{"name":"canary"'],
    ['two objects', '{"name":"canary"}{}'],
    ['a trailing comma', '{"name":"canary",}'],
    ['a comment', '{"name":"canary"/**/}'],
    ['a byte order mark', '\ufeff{"name":"canary"}'],
    ['an array', '[{"name":"canary"}]'],
    ['a string', '"canary"'],
    ['a number', '1'],
    ['null', 'null'],
    ['true', 'true'],
    ['NaN', '{"name":"canary","budget_max":NaN}'],
    ['Infinity', '{"name":"canary","budget_max":Infinity}'],
    ['a hexadecimal number', '{"name":"canary","budget_max":0x10}'],
    ['bytes that are no UTF-8', Uint8Array.of(...utf8('{"name":"'), 0xff, ...utf8('"}'))],
    ['a cut character', Uint8Array.of(...utf8('{"name":"'), 0xc3, ...utf8('"}'))],
    ['UTF-16', new Uint8Array(Buffer.from('{"name":"canary"}', 'utf16le'))],
    ['nesting of 129 levels', `{"name":${'['.repeat(128)}${']'.repeat(128)}}`],
    ['nesting without an end', '['.repeat(100_000)],
  ]

  test.each(bodies)('%s', async (_, body) => {
    const before = await state()
    for (const route of everyRoute) {
      const answer = await send(route, body)
      expect(refusal(answer), route).toEqual([400, 'LM-1001', null])
      expect(answer.text).not.toContain('canary')
    }
    expect(await state()).toBe(before)
  })
})

const names = [undefined, null, '', ' ', '\u00a0\t', 1, true, [], {}, ['x'], 'x'.repeat(257)]
const badNames = [...names, 'a\nb', 'a\0b', 'a\u0085b', '\ud800', 'x\udc00']
const badBudgets = [
  '1',
  true,
  [],
  {},
  -1,
  -1e-9,
  1e-10,
  1e-12,
  Number.MIN_VALUE,
  1e12 + 0.001,
  1e300,
  '',
  'null',
]
const badCounts = ['1', true, [], {}, -1, 0.5, 1e-9, 2 ** 53, 1e300, '']

const badPeriods = ['', 'year', 'Day', 1, true, [], {}]
const badModels = [[], 'gpt', {}, 1, true, '', Array(1_001).fill('gpt')]

/** The limits that are counts, of keys and of groups. */
const limits = ['rpm_limit', 'tpm_limit', 'max_parallel']

type Field = readonly [field: string, value: unknown]

/** Values that the routes with the field refuse. */
const fields: Readonly<Record<string, readonly Field[]>> = {
  'POST key': [
    ...badNames.map((value): Field => ['name', value]),
    ...badBudgets.map((value): Field => ['budget_max', value]),
    ...badModels.map((value): Field => ['models', value]),
    ...badPeriods.map((value): Field => ['budget_period', value]),
    ...[...limits, 'expires_at'].flatMap((field) =>
      badCounts.map((value): Field => [field, value]),
    ),
    // Milliseconds.
    ['expires_at', 100_000_000_001],
    ['expires_at', 1_764_000_000_000],
    ...[1, true, [], {}, '', 'x', 'f'.repeat(31), 'F'.repeat(32)].map(
      (value): Field => ['group_id', value],
    ),
    // Clients cannot set these.
    ...['disabled', 'id', 'key', 'budget_spent', 'spent_total', 'budget_resets_at', 'hash'].map(
      (field): Field => [field, 'canary'],
    ),
  ],
  'PATCH key': [
    ...badNames.slice(1).map((value): Field => ['name', value]),
    ...badBudgets.map((value): Field => ['budget_max', value]),
    ...badModels.map((value): Field => ['models', value]),
    ...badPeriods.map((value): Field => ['budget_period', value]),
    ...[...limits, 'expires_at'].flatMap((field) =>
      badCounts.map((value): Field => [field, value]),
    ),
    // Milliseconds.
    ['expires_at', 100_000_000_001],
    ['expires_at', 1_764_000_000_000],
    ...[null, 0, 1, 'true', 'canary', [], {}].map((value): Field => ['disabled', value]),
    ...['id', 'key', 'budget_spent', 'created_at', 'deleted_at'].map(
      (field): Field => [field, 'canary'],
    ),
  ],
  'POST group': [
    ...badNames.map((value): Field => ['name', value]),
    ...limits.flatMap((field) => badCounts.map((value): Field => [field, value])),
    ...badBudgets.map((value): Field => ['budget_max', value]),
    ...badModels.map((value): Field => ['models', value]),
    ...badPeriods.map((value): Field => ['budget_period', value]),
    ...['expires_at', 'group_id', 'disabled', 'spent_total'].map((field): Field => [field, null]),
  ],
  'PATCH group': [
    ...badNames.slice(1).map((value): Field => ['name', value]),
    ...limits.flatMap((field) => badCounts.map((value): Field => [field, value])),
    ...badBudgets.map((value): Field => ['budget_max', value]),
    ...badModels.map((value): Field => ['models', value]),
    ...badPeriods.map((value): Field => ['budget_period', value]),
    ...['expires_at', 'disabled', 'deleted_at'].map((field): Field => [field, null]),
  ],
  'POST key grant': [
    ...[undefined, null, 0, -0, -1, 1e-10, 1e12 + 0.001, 1e300, '1', true, [], {}].map(
      (value): Field => ['amount', value],
    ),
    ['budget_max', 1],
    ['currency', 'canary'],
  ],
}

/** A body that the route accepts. */
const valid: Readonly<Record<string, object>> = {
  'POST key': { name: 'k' },
  'PATCH key': {},
  'POST group': { name: 'g' },
  'PATCH group': {},
  'POST key grant': { amount: 1 },
  'POST group grant': { amount: 1 },
}

describe.each([
  ...Object.entries(fields),
  ['POST group grant', fields['POST key grant'] ?? []] as const,
])('%s refuses with LM-1001', (route, table) => {
  test.each(table)('%s %j is refused', async (field, value) => {
    const before = await state()
    const answer = await send(route, { ...valid[route], [field]: value })
    expect(refusal(answer)).toEqual([400, 'LM-1001', field])
    expect(answer.json.error.message).toMatch(/^(?:[a-z_]+: |unknown field; this route takes )/)
    expect(answer.text).not.toContain('canary')
    expect(await state()).toBe(before)
  })

  test.each(['1e400', '-1e400'])('a number as large as %s', async (number) => {
    const field = route.endsWith('grant') ? 'amount' : 'budget_max'
    const body = JSON.stringify({ ...valid[route], [field]: 0 }).replace(/0\}$/, `${number}}`)
    expect(refusal(await send(route, body))).toEqual([400, 'LM-1001', field])
  })

  test.each(['__proto__', 'constructor', 'toString', 'Name', 'name ', ''])(
    'a field called "%s"',
    async (field) => {
      const rest = JSON.stringify(valid[route]).slice(1)
      const body = `{${JSON.stringify(field)}:1${rest === '}' ? '' : ','}${rest}`
      expect(refusal(await send(route, body))).toEqual([400, 'LM-1001', field])
    },
  )
})

test.each([1, null, '', '*a', 'a*b', '**', 'a\nb', '\ud800', 'x'.repeat(257), ['gpt']])(
  'the model %j is refused, and the error says which one it is',
  async (model) => {
    for (const route of [...routes.create, ...routes.update]) {
      const answer = await send(route, { ...valid[route], models: ['gpt', model] })
      expect(refusal(answer)).toEqual([400, 'LM-1001', 'models.1'])
      expect(answer.json.error.message).toMatch(/^models\.1: must be a model id/)
    }
  },
)

test('the name of an unknown field comes back no longer than 100 characters', async () => {
  const { error } = (await send('POST key', { name: 'k', ['x'.repeat(5000)]: 1 })).json
  expect([error.code, error.param]).toEqual(['LM-1001', 'x'.repeat(100)])
  expect(error.message.length).toBeLessThan(200)
})

describe('unusual but valid bodies', () => {
  test.each([
    ['a name of one character', { name: 'x' }, { name: 'x' }],
    ['a name of 256 characters', { name: '🔑'.repeat(256) }, { name: '🔑'.repeat(256) }],
    ['a name with blanks around it', { name: ' x ' }, { name: ' x ' }],
    ['a name that looks like markup', { name: '<b>"\\' }, { name: '<b>"\\' }],
    ['a budget of 0', { budget_max: 0 }, { budget_max: 0 }],
    ['a budget of -0', '{"name":"k","budget_max":-0}', { budget_max: 0 }],
    ['one model', { models: ['gpt-5'] }, { models: ['gpt-5'] }],
    [
      'models with endings, blanks and repetitions',
      { models: ['org/*', '*', 'my model', '*'] },
      { models: ['org/*', '*', 'my model', '*'] },
    ],
    ['all models', { models: null }, { models: null }],
    ['the smallest budget', { budget_max: 1e-9 }, { budget_max: 1e-9 }],
    ['the largest budget', { budget_max: 1e12 }, { budget_max: 1e12 }],
    [
      'nine digits after the point',
      { budget_max: 1234567.123456789 },
      { budget_max: 1234567.123456789 },
    ],
    ['more digits, which are rounded', { budget_max: 0.1234567895 }, { budget_max: 0.12345679 }],
    ['a whole number with an exponent', '{"name":"k","rpm_limit":1e3}', { rpm_limit: 1000 }],
    ['a whole number with a point', '{"name":"k","rpm_limit":5.0}', { rpm_limit: 5 }],
    ['the largest limit', { tpm_limit: 2 ** 53 - 1 }, { tpm_limit: 2 ** 53 - 1 }],
    ['the same field twice, the last wins', '{"name":"a","name":"b"}', { name: 'b' }],
    ['white space around the object', ' \n{"name":"k"}\r\n', { name: 'k' }],
  ])('%s', async (_, body, expected) => {
    const created = await send('POST key', typeof body === 'string' ? body : { name: 'k', ...body })
    expect(created.status).toBe(201)
    expect(created.json).toMatchObject(expected)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'a content type of "%s"',
    async (type) => {
      const answer = await send('POST group', '{"name":"g"}', { 'content-type': type })
      expect(answer.status).toBe(201)
    },
  )
})

describe('the query of a list', () => {
  test.each([
    ['include_deleted', 'include_deleted'],
    ['include_deleted=', 'include_deleted'],
    ['include_deleted=1', 'include_deleted'],
    ['include_deleted=TRUE', 'include_deleted'],
    ['include_deleted=yes', 'include_deleted'],
    ['include_deleted=true&include_deleted=true', 'include_deleted'],
    ['include_deleted=true&include_deleted=false', 'include_deleted'],
    ['includeDeleted=true', 'includeDeleted'],
    ['include_deleted=true&limit=5', 'limit'],
    ['__proto__=true', '__proto__'],
    ['=', ''],
  ])('?%s is refused', async (query, param) => {
    for (const list of ['keys', 'groups']) {
      const answer = await admin.call('GET', `/admin/${list}?${query}`)
      expect(refusal(answer)).toEqual([400, 'LM-1001', param])
    }
  })

  test.each(['', '?', '?include_deleted=%74rue', '?&include_deleted=false&'])(
    '%s is taken',
    async (query) => {
      expect((await admin.call('GET', `/admin/keys${query}`)).status).toBe(200)
    },
  )
})

describe('a body over the limit is LM-1002', () => {
  const tooLong = JSON.stringify({ name: 'x'.repeat(bodyLimit) })
  const pieces = () =>
    new ReadableStream<Uint8Array>({
      start(out) {
        for (let at = 0; at < tooLong.length; at += 10_000) {
          out.enqueue(utf8(tooLong.slice(at, at + 10_000)))
        }
        out.close()
      },
    })

  test.each(everyRoute)('a body over the limit is LM-1002 for %s', async (route) => {
    const declared = await send(route, tooLong, { 'content-length': String(tooLong.length) })
    expect(refusal(declared)).toEqual([413, 'LM-1002', null])
    expect(refusal(await send(route, pieces()))).toEqual([413, 'LM-1002', null])
  })
})

describe('a client that leaves', () => {
  test('a client that leaves while its body is read ends the wait, and nothing is written', async () => {
    const before = admin.store.calls.length
    const signal = new LightAbortController()
    const body = new ReadableStream<Uint8Array>({ start: (out) => out.enqueue(utf8('{"na')) })
    const headers = { authorization: `Bearer ${masterKey}` }
    const call = admin.call('POST', '/admin/keys', { body, signal, headers })
    await settled()
    signal.abort()
    expect((await call).json.error.code).toBe('LM-6001')
    expect(admin.store.calls).toHaveLength(before)
    expect(admin.clock.pending).toBe(0)
  })

  test('a client that left before its body is read is not waited for', async () => {
    const signal = new LightAbortController()
    signal.abort()
    const body = new ReadableStream<Uint8Array>()
    const { json } = await admin.call('POST', '/admin/keys', { body, signal })
    expect(json.error.code).toBe('LM-6001')
  })
})
