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
    'providers[0].models[0].fallbacks[0] (line 7): model "b" lacks "embed", so it cannot stand in',
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

test('a pair that backs each other is a cycle', async () => {
  expect(await problemsOf(fileWithModels({ a: backedBy('b'), b: backedBy('a') }))).toEqual([
    'providers[0].models[1].fallbacks[0] (line 9): the fallbacks form a cycle: "a" -> "b" -> "a"',
  ])
})

test('a cycle is named without the models that lead to it', async () => {
  const file = fileWithModels({
    start: backedBy('b'),
    b: backedBy('leaf', 'c'),
    c: backedBy('d'),
    d: backedBy('leaf', 'b'),
    leaf: '',
  })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[3].fallbacks[1] (line 15): the fallbacks form a cycle: "b" -> "c" -> "d" -> "b"',
  ])
})

test('every cycle is named', async () => {
  const file = fileWithModels({
    a: backedBy('b'),
    b: backedBy('a'),
    c: backedBy('d'),
    d: backedBy('c'),
  })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[1].fallbacks[0] (line 9): the fallbacks form a cycle: "a" -> "b" -> "a"',
    'providers[0].models[3].fallbacks[0] (line 15): the fallbacks form a cycle: "c" -> "d" -> "c"',
  ])
})

test('two ways to the same fallback are no cycle', async () => {
  const file = fileWithModels({
    a: backedBy('b', 'c'),
    b: backedBy('d'),
    c: backedBy('d'),
    d: '',
  })
  expect(await problemsOf(file)).toEqual([])
})

test('a cycle that several ways lead to is named once', async () => {
  const file = fileWithModels({
    start: backedBy('left', 'right'),
    left: backedBy('a'),
    right: backedBy('a', 'b'),
    a: backedBy('b'),
    b: backedBy('a'),
  })
  expect(await problemsOf(file)).toEqual([
    'providers[0].models[4].fallbacks[0] (line 18): the fallbacks form a cycle: "a" -> "b" -> "a"',
  ])
})

test('a trail of ten thousand models is followed to its end', async () => {
  const last = 9_999
  const models = Array.from({ length: last + 1 }, (_, i) => [
    `m${i}`,
    backedBy(`m${i === last ? 0 : i + 1}`),
  ])
  const [problem = '', ...rest] = await problemsOf(fileWithModels(Object.fromEntries(models)))
  expect(problem).toContain(`providers[0].models[${last}].fallbacks[0]`)
  expect(rest).toEqual([])
})
