import { expect, test } from 'vitest'
import { fileWithModels, listProblems, loadValid } from './support.ts'

const backedBy = (...ids: readonly string[]) => `fallbacks = ${JSON.stringify(ids)}`

test('a fallback may be a model of any provider, before or after the model, and be shared', async () => {
  const { providers } = await loadValid(
    `${fileWithModels({ a: backedBy('c', 'b'), b: backedBy('c'), c: '' })}
    [[providers]]
    name = "other"
    kind = "openai"
    [[providers.models]]
    id = "d"
    ${backedBy('a')}`,
  )
  expect(providers[0]?.models[0]?.fallbacks).toEqual(['c', 'b'])
})

test('an unknown fallback is refused, with the nearest id as a suggestion', async () => {
  const file = fileWithModels({ 'gpt-4o': backedBy('cluade-sonnet', 'x'), 'claude-sonnet': '' })
  expect(await listProblems(file)).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): no model has the id "cluade-sonnet"; did you mean "claude-sonnet"?',
    'providers[0].models[0].fallbacks[1] (line 6): no model has the id "x"',
  ])
})

test('a model is never suggested as its own fallback', async () => {
  expect(await listProblems(fileWithModels({ 'gpt-4o': backedBy('gpt-4') }))).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): no model has the id "gpt-4"',
  ])
})

test('a model cannot be its own fallback', async () => {
  expect(await listProblems(fileWithModels({ a: backedBy('a') }))).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): a model cannot be its own fallback',
  ])
})

test('a fallback listed twice is refused', async () => {
  expect(await listProblems(fileWithModels({ a: backedBy('b', 'b'), b: '' }))).toEqual([
    'providers[0].models[0].fallbacks[1] (line 6): is listed twice',
  ])
})

test('a fallback must have every capability of the model that it backs', async () => {
  const file = fileWithModels({
    a: `capabilities = ["chat", "embed"]\n${backedBy('b', 'c')}`,
    b: '',
    c: 'capabilities = ["embed", "chat"]',
  })
  expect(await listProblems(file)).toEqual([
    'providers[0].models[0].fallbacks[0] (line 7): model "b" lacks "embed", so it cannot be a fallback here',
  ])
})

test('a fallback may have more capabilities than the model that it backs', async () => {
  expect(
    await listProblems(fileWithModels({ a: backedBy('b'), b: 'capabilities = ["chat", "embed"]' })),
  ).toEqual([])
})

test('malformed capabilities cause no second problem about fallbacks', async () => {
  const file = fileWithModels({
    a: backedBy('b'),
    b: `capabilities = "chat"\n${backedBy('c')}`,
    c: '',
  })
  expect(await listProblems(file)).toEqual([
    'providers[0].models[1].capabilities (line 9): must be an array',
  ])
})

test('models may back each other, in a circle too', async () => {
  const file = fileWithModels({
    a: backedBy('b', 'c'),
    b: backedBy('a', 'c'),
    c: backedBy('a'),
  })
  expect(await listProblems(file)).toEqual([])
})
