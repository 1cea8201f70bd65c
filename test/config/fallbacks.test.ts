import { expect, test } from 'vitest'
import { configOf, fileWithModels, problemsOf } from './support.ts'

const backedBy = (...ids: readonly string[]) => `fallbacks = ${JSON.stringify(ids)}`

test('fallbacks may stand with any provider, before or after the model, and be shared', async () => {
  const { providers } = await configOf(
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

test('a fallback that no model answers to is refused, with the nearest id', async () => {
  const file = fileWithModels({ 'gpt-4o': backedBy('cluade-sonnet', 'x'), 'claude-sonnet': '' })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): no model has the id "cluade-sonnet"; did you mean "claude-sonnet"?',
    'providers[0].models[0].fallbacks[1] (line 6): no model has the id "x"',
  ])
})

test('the model itself is never suggested', async () => {
  expect(await problemsOf(fileWithModels({ 'gpt-4o': backedBy('gpt-4') }))).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): no model has the id "gpt-4"',
  ])
})

test('a model cannot be its own fallback', async () => {
  expect(await problemsOf(fileWithModels({ a: backedBy('a') }))).toEqual([
    'providers[0].models[0].fallbacks[0] (line 6): a model cannot be its own fallback',
  ])
})

test('a fallback listed twice is refused', async () => {
  expect(await problemsOf(fileWithModels({ a: backedBy('b', 'b'), b: '' }))).toEqual([
    'providers[0].models[0].fallbacks[1] (line 6): is listed twice',
  ])
})

test('a fallback must have every capability of the model that it backs', async () => {
  const file = fileWithModels({
    a: `capabilities = ["chat", "embed"]\n${backedBy('b', 'c')}`,
    b: '',
    c: 'capabilities = ["embed", "chat"]',
  })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[0].fallbacks[0] (line 7): model "b" lacks "embed", so it cannot be a fallback here',
  ])
})

test('a fallback may have more capabilities than the model that it backs', async () => {
  expect(
    await problemsOf(fileWithModels({ a: backedBy('b'), b: 'capabilities = ["chat", "embed"]' })),
  ).toEqual([])
})

test('malformed capabilities are reported alone', async () => {
  const file = fileWithModels({
    a: backedBy('b'),
    b: `capabilities = "chat"\n${backedBy('c')}`,
    c: '',
  })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[1].capabilities (line 9): must be an array',
  ])
})

test('models may back each other, and go round in a circle', async () => {
  const file = fileWithModels({
    a: backedBy('b', 'c'),
    b: backedBy('a', 'c'),
    c: backedBy('a'),
  })
  expect(await problemsOf(file)).toEqual([])
})
