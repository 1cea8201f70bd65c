import { describe, expect, test } from 'vitest'
import { fileWithModels, listProblems, loadValid } from './support.ts'

const models = fileWithModels({
  'gpt-4o': '',
  'gpt-4o-eu': 'capabilities = ["chat", "embed"]',
  vectors: 'capabilities = ["embed"]',
})
/** A file with one route, whose header is on line 14. */
const withRoute = (lines: string) => `${models}\n[[routes]]\n${lines}`
const targets = (...ids: readonly string[]) =>
  `targets = [${ids.map((id) => `{ model = "${id}" }`).join(', ')}]`
const route = (more: string, id = 'r') => withRoute(`id = "${id}"\nstrategy = "weighted"\n${more}`)

test('a route has an id, a strategy and targets with weights', async () => {
  const { routes } = await loadValid(
    route('targets = [{ model = "gpt-4o", weight = 0.5 }, { model = "gpt-4o-eu" }]'),
  )
  expect(routes).toEqual([
    {
      id: 'r',
      strategy: 'weighted',
      targets: [
        { model: 'gpt-4o', weight: 0.5 },
        { model: 'gpt-4o-eu', weight: 1 },
      ],
      fallbacks: [],
      cases: [],
      affinity_ttl_seconds: 300,
    },
  ])
})

test('a route may come before its models', async () => {
  const [, before = ''] = route(targets('gpt-4o')).split(/(?=\[\[routes\]\])/)
  expect(await listProblems(`${before}\n${models}`)).toEqual([])
})

test('missing settings are listed', async () => {
  expect(await listProblems(withRoute(''))).toEqual([
    'routes[0].id (line 14): is required',
    expect.stringMatching(/^routes\[0\]\.strategy \(line 14\): is required: "weighted"/),
    'routes[0].targets (line 14): is required',
  ])
})

describe('targets', () => {
  test.each([
    ['targets = []', 'targets (line 17): must not be empty'],
    ['targets = ["gpt-4o"]', 'targets[0] (line 17): must be a table'],
    [
      'targets = [{ model = "gpt-4o", weight = -1 }]',
      'targets[0].weight (line 17): must be a number from 0 to 1000000',
    ],
    [
      'targets = [{ model = "gpt-4o", weight = 0 }, { model = "gpt-4o-eu", weight = 0.0 }]',
      'targets (line 17): must have a target with a weight above 0',
    ],
    [targets('gpt-4o', 'gpt-4o'), 'targets[1].model (line 17): is listed twice'],
    [
      targets('gpt4o'),
      'targets[0].model (line 17): no model has the id "gpt4o"; did you mean "gpt-4o"?',
    ],
    [targets('r'), 'targets[0].model (line 17): "r" is a route: a target must be a model'],
    [
      targets('gpt-4o', 'vectors'),
      'targets (line 17): the targets share no capability: "gpt-4o" has "chat"; "vectors" has "embed"',
    ],
  ])('%s', async (lines, problem) => {
    expect(await listProblems(route(lines))).toEqual([`routes[0].${problem}`])
  })

  test('targets may share one of several capabilities', async () => {
    expect(await listProblems(route(targets('vectors', 'gpt-4o-eu')))).toEqual([])
  })

  test('targets with a malformed capability cause no further problem', async () => {
    const file = route(targets('gpt-4o', 'vectors')).replace('["embed"]\n', '["embd"]\n')
    expect(await listProblems(file)).toEqual([
      'providers[0].models[2].capabilities[0] (line 12): must be "chat", "embed", "rerank", or "decisions"; did you mean "embed"?',
    ])
  })
})

describe('fallbacks of a route', () => {
  const withFallbacks = (...ids: readonly string[]) =>
    route(`${targets('gpt-4o')}\nfallbacks = ${JSON.stringify(ids)}`)

  test('a fallback is another model with the capabilities of the route', async () => {
    expect(await listProblems(withFallbacks('gpt-4o-eu'))).toEqual([])
  })

  test.each([
    ['gpt-4o', 'model "gpt-4o" is a target of this route already'],
    ['vectors', 'model "vectors" lacks "chat", so it cannot be a fallback here'],
    ['vector', 'no model has the id "vector"; did you mean "vectors"?'],
    ['r', '"r" is a route: a fallback must be a model'],
  ])('%s is refused', async (id, problem) => {
    expect(await listProblems(withFallbacks(id))).toEqual([
      `routes[0].fallbacks[0] (line 18): ${problem}`,
    ])
  })

  test('a fallback listed twice is refused', async () => {
    expect(await listProblems(withFallbacks('gpt-4o-eu', 'gpt-4o-eu'))).toEqual([
      'routes[0].fallbacks[1] (line 18): is listed twice',
    ])
  })

  test('a route cannot be the fallback of a model', async () => {
    const file = route(targets('gpt-4o')).replace(
      'id = "gpt-4o"\n',
      'id = "gpt-4o"\nfallbacks = ["r"]\n',
    )
    expect(await listProblems(file)).toEqual([
      'providers[0].models[0].fallbacks[0] (line 6): "r" is a route: a fallback must be a model',
    ])
  })
})

describe('the id of a route', () => {
  test('the id of a model is taken', async () => {
    expect(await listProblems(route(targets('gpt-4o'), 'vectors'))).toEqual([
      'routes[0].id (line 15): route id "vectors" is already taken by providers[0].models[2].id (line 11)',
    ])
  })

  test('the id of another route is taken', async () => {
    const file = route(targets('gpt-4o'))
    const [, again = ''] = file.split(/(?=\[\[routes\]\])/)
    expect(await listProblems(`${file}\n${again}`)).toEqual([
      'routes[1].id (line 19): route id "r" is already taken by routes[0].id (line 15)',
    ])
  })
})

describe('names of other products', () => {
  const only = withRoute(`id = "r"\n${targets('gpt-4o')}`)

  test.each([
    ['round_robin', 'weighted'],
    ['simple-shuffle', 'weighted'],
    ['weihgted', 'weighted'],
    ['latency-based-routing', 'fastest'],
    ['lowest_cost', 'cheapest'],
    ['leastconn', 'least_busy'],
    ['least-busy', 'least_busy'],
  ])('strategy %s', async (name, strategy) => {
    expect(await listProblems(`${only}\nstrategy = "${name}"`)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^routes\\[0\\]\\.strategy \\(line 17\\): must be .*; did you mean "${strategy}"\\?$`,
        ),
      ),
    ])
  })

  test.each([
    ['name = "x"', 'routes[0].name (line 17): unknown setting; did you mean "id"?', 'id = "r"\n'],
    ['deployments = []', 'routes[0].deployments (line 18): unknown setting', ''],
    ['algorithm = ""', 'routes[0].algorithm (line 18): unknown setting', ''],
  ])('%s', async (line, problem, removed) => {
    const file = `${route(targets('gpt-4o')).replace(removed, '')}\n${line}`
    expect((await listProblems(file)).join()).toContain(problem)
  })

  test('the members of a target', async () => {
    expect(await listProblems(route('targets = [{ id = "gpt-4o", percentage = 50 }]'))).toEqual([
      'routes[0].targets[0].model (line 17): is required',
      'routes[0].targets[0].id (line 17): unknown setting; did you mean "model"?',
      'routes[0].targets[0].percentage (line 17): unknown setting; did you mean "weight"?',
    ])
  })
})
