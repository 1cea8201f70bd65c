import { expect, test } from 'vitest'
import { complete } from '../../support/completions.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "m" }]'

const greeting = 'Hello from the demo provider of Model Gateway. You said: '

test('each prompt gets as many answers as requested', async () => {
  const gateway = await watchedGateway(config)
  const response = await complete(gateway, { prompt: ['one two', [5, 6, 7]], n: 2 })
  const { choices, usage } = (await response.json()) as {
    choices: readonly { index: number; text: string }[]
    usage: object
  }
  expect(choices.map(({ text }) => text)).toEqual(
    ['one two', 'one two', '5 6 7', '5 6 7'].map((said) => greeting + said),
  )
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
  // The greeting has ten words.
  expect(usage).toEqual({ prompt_tokens: 5, completion_tokens: 50, total_tokens: 55 })
})

test('a stream has the words of the whole answer, cut at max_tokens', async () => {
  const gateway = await watchedGateway(config)
  const body = { prompt: [1, 2], max_tokens: 2, stream: true }
  const text = await (await complete(gateway, body)).text()
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
  const choices = events.flatMap((event) => JSON.parse(event.slice('data: '.length)).choices)
  expect(choices.map((choice) => choice.text).join('')).toBe('Hello from ')
  expect(choices.map((choice) => choice.finish_reason)).toEqual([null, null, 'length', null])
  expect(text).toMatch(/"usage":\{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4\}/)
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
})

test('a request that the demo cannot read is a 400 with the field', async () => {
  const gateway = await watchedGateway(config)
  const response = await complete(gateway, { n: 1000 })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('the demo provider cannot read n')
})
