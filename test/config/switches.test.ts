import { describe, expect, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { fileWithModels, listProblems, loadValid } from './support.ts'

const models = fileWithModels({ small: '', large: '', vectors: 'capabilities = ["embed"]' })
/** A file with the lines of one route after its id and strategy. The header of the route is on line 14. */
const route = (lines: string, strategy = 'switch') =>
  `${models}\n[[routes]]\nid = "r"\nstrategy = "${strategy}"\n${lines}`
const cases = (...whens: readonly string[]) =>
  `default = "small"\ncases = [${whens.map((when) => `{ when = { ${when} }, target = "large" }`).join(', ')}]`
const switchTo = (id: string, ...targets: readonly string[]) =>
  `[[routes]]\nid = "${id}"\nstrategy = "switch"\ndefault = "small"\ncases = [${targets
    .map((target) => `{ when = { stream = true }, target = "${target}" }`)
    .join(', ')}]`

test('a switch has cases and a default', async () => {
  const { routes } = await loadValid(
    route(
      cases(
        'api = ["chat", "messages"], stream = false, has_tools = true, has_images = false, has_files = true',
        'input_tokens = { above = 10, below = 20 }, budget_used = { above = 0.9 }',
        `group = "${'a'.repeat(32)}", key = ["${'b'.repeat(32)}"], metadata.team = "x", metadata.tier = [1, true]`,
        'hours = ["22:00-06:00"], days = ["sat"], time_zone = "Europe/Berlin"',
      ),
    ),
  )
  expect(routes).toMatchObject([
    {
      default: 'small',
      targets: [],
      cases: [
        { target: 'large', when: { api: ['chat', 'messages'], stream: false } },
        { when: { input_tokens: { above: 10, below: 20 }, budget_used: { above: 0.9 } } },
        { when: { metadata: { team: 'x', tier: [1, true] } } },
        { when: { hours: ['22:00-06:00'], days: ['sat'], time_zone: 'Europe/Berlin' } },
      ],
    },
  ])
})

describe('the settings of a switch', () => {
  test.each([
    [
      '',
      [
        'routes[0].cases (line 14): is required for a switch',
        'routes[0].default (line 14): is required for a switch',
      ],
    ],
    ['default = "small"\ncases = []', ['routes[0].cases (line 18): must not be empty']],
    [
      `${cases('stream = true')}\ntargets = [{ model = "small" }]\nfallbacks = ["large"]\naffinity = true`,
      [
        'routes[0].targets (line 19): a switch has cases and default in place of targets',
        'routes[0].fallbacks (line 20): a switch has no fallbacks: its targets have their own',
        'routes[0].affinity (line 21): a switch has no affinity: its targets have their own',
      ],
    ],
    [
      'default = "lrge"\ncases = [{ when = { stream = true }, target = "r2" }]',
      [
        'routes[0].default (line 17): no model has the id "lrge"; did you mean "large"?',
        'routes[0].cases[0].target (line 18): no model has the id "r2"',
      ],
    ],
  ])('%j', async (lines, problems) => {
    expect(await listProblems(route(lines))).toEqual(problems)
  })

  test('other routes have neither cases nor a default, and need targets', async () => {
    expect(await listProblems(route(cases('stream = true'), 'weighted'))).toEqual([
      'routes[0].targets (line 14): is required',
      'routes[0].default (line 17): needs strategy = "switch"',
      'routes[0].cases (line 18): needs strategy = "switch"',
    ])
  })

  test.each([
    ['', ': needs a condition: what serves all other requests is the default'],
    [
      'days = ["mon"]',
      [': needs a condition: what serves all other requests is the default', '.days: needs hours'],
    ],
    ['hours = ["1:00-2:00"]', '.hours[0]: must be two times of a day, such as "16:30-00:30"'],
    [
      'hours = ["10:00-12:00"], time_zone = "Mars/Base"',
      '.time_zone: unknown time zone "Mars/Base"',
    ],
    ['input_tokens = {}', '.input_tokens: needs above or below'],
    [
      'input_tokens = { above = 5, below = 6 }',
      '.input_tokens.below: must be more than 6, or no prompt is between the two',
    ],
    ['input_tokens = 5', '.input_tokens: must be a table'],
    ['budget_used = { above = 90 }', '.budget_used.above: must be a number from 0 to 1'],
    ['budget_used = {}', '.budget_used.above: must be a number from 0 to 1'],
    [
      'api = "chta"',
      '.api: must be one of "chat", "messages", "responses", "completions", "gemini", "embeddings", "rerank", "decisions", or a list of them',
    ],
    ['key = "my key"', '.key: must be an id of 32 hexadecimal digits, as the admin API gives it'],
    [
      'metadata.team = { a = 1 }',
      '.metadata.team: must be a text, a number, true or false, or a list of them',
    ],
    [
      'metadata.team = []',
      '.metadata.team: must be a text, a number, true or false, or a list of them',
    ],
    ['metadata = {}', ': needs a condition: what serves all other requests is the default'],
    ['has_tool = true', '.has_tool: unknown setting; did you mean "has_tools"?'],
  ])('a case with %s', async (when, rules) => {
    const found = await listProblems(route(cases(when)))
    expect(found.map((line) => line.replace(/ \(line \d+\)/, ''))).toEqual(
      [rules].flat().map((rule) => `routes[0].cases[0].when${rule}`),
    )
  })
})

describe('ways through switches', () => {
  const problems = async (...routes: readonly string[]) =>
    (await listProblems(`${models}\n${routes.join('\n')}`)).map((line) =>
      line.replace(/ \(line \d+\)/, ''),
    )

  test('a circle is refused where it closes', async () => {
    expect(await problems(switchTo('a', 'a'))).toEqual([
      'routes[0].cases[0].target: leads in a circle: "a" -> "a"',
    ])
    expect(
      await problems(switchTo('a', 'large', 'b'), switchTo('b', 'c'), switchTo('c', 'b')),
    ).toEqual(['routes[2].cases[0].target: leads in a circle: "b" -> "c" -> "b"'])
  })

  test('four routes are allowed, and a fifth is refused', async () => {
    const last = '[[routes]]\nid = "d"\nstrategy = "weighted"\ntargets = [{ model = "small" }]'
    const three = [switchTo('a', 'b'), switchTo('b', 'c'), switchTo('c', 'd'), last]
    expect(await problems(...three)).toEqual([])
    expect(await problems(switchTo('z', 'large', 'a'), ...three)).toEqual([
      'routes[0].cases[1].target: leads through 5 routes: "z" -> "a" -> "b" -> "c" -> "d"; at most 4 are allowed',
    ])
  })

  test('many ways to the same routes take no time', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `s${at}`)
    const chain = names.map((id, at) => {
      const next = names[at + 1] ?? 'small'
      return switchTo(id, next, next, next)
    })
    expect((await problems(...chain)).length).toBe(36)
  })

  test('a switch is no target of other routes, and no fallback', async () => {
    const weighted =
      '[[routes]]\nid = "w"\nstrategy = "weighted"\ntargets = [{ model = "a" }]\nfallbacks = ["a"]'
    expect(await problems(switchTo('a', 'large'), weighted)).toEqual([
      'routes[1].targets[0].model: "a" is a route: a target must be a model',
      'routes[1].fallbacks[0]: "a" is a route: a fallback must be a model',
    ])
  })
})

test('conditions about keys without auth are warned about', async () => {
  const verdict = await checkConfig(
    route(cases(`key = "${'b'.repeat(32)}"`, 'budget_used = { above = 0.5 }', 'stream = true')),
    {},
  )
  expect(verdict.ok && verdict.overview.warnings).toEqual(
    expect.arrayContaining([
      'auth is off, so case 1 of route "r" never holds: it asks for key',
      'auth is off, so case 2 of route "r" never holds: it asks for budget_used',
    ]),
  )
})
