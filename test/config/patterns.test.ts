import { describe, expect, test } from 'vitest'
import { loadConfig, renderProblem } from '../../src/config/index.ts'
import { kinds as realKinds } from '../../src/providers/index.ts'
import { listProblems } from './support.ts'

const file = (models: readonly string[], more = '') => `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [${models.map((model) => `{ ${model} }`).join(', ')}]
${more}`

test.each([
  ['id = "a*"'],
  ['id = "*"'],
  ['id = "a/*", upstream_id = "*"'],
  ['id = "a/*", upstream_id = "x-*-y"'],
  ['id = "a/*", upstream_id = "x"'],
])('%s is a pattern', async (model) => {
  expect(await listProblems(file([model]))).toEqual([])
})

test.each([
  ['id = "a*b"', 'id (line 6): may have a "*" only once, at its end'],
  ['id = "**"', 'id (line 6): may have a "*" only once, at its end'],
  ['id = "a*", upstream_id = "*-*"', 'upstream_id (line 6): may have a "*" only once'],
  [
    'id = "a", upstream_id = "*"',
    'upstream_id (line 6): may have a "*" only beside an id that ends in "*"',
  ],
])('%s is refused', async (model, problem) => {
  expect(await listProblems(file([model]))).toEqual([`providers[0].models[0].${problem}`])
})

test('two patterns with one id are refused', async () => {
  expect(await listProblems(file(['id = "a*"', 'id = "a*"']))).toEqual([
    expect.stringContaining('model id "a*" is already taken by'),
  ])
})

test('a route cannot be a pattern', async () => {
  const route = '[[routes]]\nid = "r*"\nstrategy = "weighted"\ntargets = [{ model = "m" }]'
  expect(await listProblems(file(['id = "m"'], route))).toEqual([
    'routes[0].id (line 8): must not have a "*": only the id of a model may be a pattern',
  ])
})

describe('a fallback', () => {
  const withFallback = (fallback: string, more = '') =>
    file([
      `id = "m", fallbacks = ["${fallback}"]`,
      'id = "lab/*"',
      `id = "lab/vector-*", capabilities = ["embed"]${more}`,
    ])

  test('may be an id that a pattern serves', async () => {
    expect(await listProblems(withFallback('lab/a'))).toEqual([])
  })

  test.each([
    ['lab/', 'no model has the id "lab/"'],
    ['lab/*', '"lab/*" is a pattern: a fallback must be an id that it serves'],
    ['lab/vector-1', 'model "lab/vector-1" lacks "chat", so it cannot be a fallback here'],
    ['lab/../x', 'no model has the id "lab/../x"'],
  ])('%s is refused', async (fallback, problem) => {
    expect(await listProblems(withFallback(fallback))).toEqual([
      `providers[0].models[0].fallbacks[0] (line 6): ${problem}`,
    ])
  })
})

test('the targets of a route may be ids that patterns serve', async () => {
  const route = (model: string) =>
    `[[routes]]\nid = "r"\nstrategy = "cheapest"\ntargets = [{ model = "${model}" }]`
  expect(await listProblems(file(['id = "lab/*"'], route('lab/a')))).toEqual([])
  expect(await listProblems(file(['id = "lab/*"'], route('lab/*')))).toEqual([
    'routes[0].targets[0].model (line 10): "lab/*" is a pattern: a target must be an id that it serves',
  ])
})

describe('discover', () => {
  const real = async (kind: string, lines: string, model = '{ id = "a*" }') => {
    const text = `[[providers]]\nname = "p"\nkind = "${kind}"\napi_key_env = "K"\nbase_url = "http://p.test"\n${lines}\nmodels = [${model}]`
    const result = await loadConfig({ text, env: {}, kinds: realKinds })
    return result.ok ? result.warnings : result.problems.map(renderProblem)
  }

  test.each(['azure', 'voyage', 'jina', 'tei', 'cloudflare', 'perplexity'])(
    'kind %s has no list that can be read',
    async (kind) => {
      const model = ['voyage', 'jina', 'tei'].includes(kind)
        ? '{ id = "a*", capabilities = ["embed"] }'
        : '{ id = "a*" }'
      expect(await real(kind, 'discover = true', model)).toEqual([
        `providers[0].discover (line 6): is not available: kind "${kind}" has no list of models that the gateway can read`,
      ])
    },
  )

  test('an interval is at least 100 ms', async () => {
    const rule = 'must be a whole number from 100 to 2147483647'
    expect(await real('openai', 'discover = true\ndiscover_interval_ms = 0')).toEqual([
      `providers[0].discover_interval_ms (line 7): must not be 0: ${rule}`,
    ])
    expect(await real('openai', 'discover = true\ndiscover_interval_ms = 99')).toEqual([
      `providers[0].discover_interval_ms (line 7): ${rule}`,
    ])
  })

  test('without a pattern it is a warning', async () => {
    expect(await real('openai', 'discover = true', '{ id = "a" }')).toEqual([
      'provider p: discover has no effect, because no id of a model there ends in *',
    ])
  })
})
