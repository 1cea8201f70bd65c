import { expect, test } from 'vitest'
import { listProblems } from './support.ts'

const models = (...ids: readonly string[]) =>
  ids.map((id) => `[[providers.models]]\nid = "${id}"\n`).join('')
const provider = (name: string, ...ids: readonly string[]) =>
  `[[providers]]\nname = "${name}"\nkind = "openai"\n${models(...ids)}`

test('a duplicate model id is refused with the path of both models', async () => {
  expect(await listProblems(provider('a', 'x', 'y') + provider('b', 'z', 'x'))).toEqual([
    'providers[1].models[1].id (line 14): model id "x" is already taken by providers[0].models[0].id (line 5)',
  ])
})

test('a duplicate provider name is refused with the path of the first provider', async () => {
  expect(await listProblems(provider('a') + provider('a') + provider('a'))).toEqual([
    'providers[1].name (line 5): provider name "a" is already taken by providers[0].name (line 2)',
    'providers[2].name (line 8): provider name "a" is already taken by providers[0].name (line 2)',
  ])
})

test('a model may share its id with a provider, or differ from another model by case only', async () => {
  expect(await listProblems(provider('x', 'x', 'X'))).toEqual([])
})

test('a variable of a provider is listed once', async () => {
  expect(
    await listProblems(
      `${provider('a')}api_key_env = "A"\napi_key_envs = ["B", "A", "B"]\n${provider('b')}api_key_env = "A"`,
    ),
  ).toEqual([
    'providers[0].api_key_envs[2] (line 5): is listed twice',
    'providers[0].api_key_envs[1] (line 5): is the same variable as providers[0].api_key_env (line 4)',
  ])
})

test('the names of several variables follow the rules of one', async () => {
  expect(await listProblems(`${provider('a')}api_key_envs = []`)).toEqual([
    'providers[0].api_key_envs (line 4): must not be empty',
  ])
  expect(await listProblems(`${provider('a')}api_key_envs = ["$A", "sk-canary"]`)).toEqual([
    'providers[0].api_key_envs[0] (line 4): must be the name of an environment variable alone, without the $',
    'providers[0].api_key_envs[1] (line 4): must be the name of the environment variable that holds the key, not the key',
  ])
})
