import { expect, test } from 'vitest'
import { problemsOf } from './support.ts'

const models = (...ids: readonly string[]) =>
  ids.map((id) => `[[providers.models]]\nid = "${id}"\n`).join('')
const provider = (name: string, ...ids: readonly string[]) =>
  `[[providers]]\nname = "${name}"\nkind = "openai"\n${models(...ids)}`

test('a model id names one model of the whole file: a collision names both places', async () => {
  expect(await problemsOf(provider('a', 'x', 'y') + provider('b', 'z', 'x'))).toEqual([
    'providers[1].models[1].id (line 14): model id "x" is already taken by providers[0].models[0].id (line 5)',
  ])
})

test('a provider name names one provider: every collision points at the first', async () => {
  expect(await problemsOf(provider('a') + provider('a') + provider('a'))).toEqual([
    'providers[1].name (line 5): provider name "a" is already taken by providers[0].name (line 2)',
    'providers[2].name (line 8): provider name "a" is already taken by providers[0].name (line 2)',
  ])
})

test('a model may share its id with a provider, and differ from others by case only', async () => {
  expect(await problemsOf(provider('x', 'x', 'X'))).toEqual([])
})
