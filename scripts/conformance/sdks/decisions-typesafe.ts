/** TypeSafe's SDK: https://github.com/typesafe-ai/typesafe-sdk-js */
import assert from 'node:assert/strict'
import {
  AuthenticationError,
  BadRequestError,
  choice,
  NotFoundError,
  noul,
  RateLimitError,
  score,
  TypeSafeClient,
  UnprocessableEntityError,
} from '@typesafe-ai/sdk'
import { pictureData, runChecks } from './checks.ts'

await runChecks(({ address, key, model }) => {
  const connect = (apiKey: string) =>
    new TypeSafeClient({ baseURL: address, apiKey, retry: { maxRetries: 0 }, logLevel: 'off' })
  const client = connect(key)
  const questions = {
    duplicate: noul('Charged more than once?'),
    team: choice('Who?', { billing: null, technical: 'Errors' }),
    mood: score('How upset?', ['calm', 'angry']),
  }
  const ask = (scenario: string) => ({
    model: model(`decide--${scenario}`),
    state: { ticket: 'Charged twice — “again”, in €.' },
    questions,
  })

  return {
    async decide() {
      const { answers, usage } = await client.systemOne(ask('say'))
      assert.deepEqual(answers, {
        duplicate: { type: 'noul', noul: 0.97 },
        team: {
          type: 'choice',
          choice: 'billing',
          confidence: 0.94,
          probabilities: { billing: 0.97, technical: 0.03 },
        },
        mood: {
          type: 'score',
          score: 0.03,
          confidence: 0.94,
          legend: { 0: 'calm', 1: 'angry' },
          probabilities: { 0: 0.97, 1: 0.03 },
        },
      })
      assert.ok(usage.input_tokens > 0)
    },
    async 'decide on a picture'() {
      const images = [`data:image/png;base64,${pictureData}`]
      const asked = { ...ask('say'), images }
      assert.equal((await client.systemOne(asked)).answers.duplicate.noul, 0.97)
    },
    async models() {
      const names = (await client.models.list()).map(({ name }) => name)
      assert.ok(names.includes(model('decide--say')))
    },
    async refuse() {
      const failures = [BadRequestError, UnprocessableEntityError]
      await assert.rejects(client.systemOne(ask('refuse')), (error) =>
        failures.some((each) => error instanceof each),
      )
    },
    async 'rate-limited'() {
      await assert.rejects(client.systemOne(ask('rate-limited')), RateLimitError)
    },
    async 'unknown model'() {
      const asked = client.systemOne({ ...ask('say'), model: 'no-such-model' })
      await assert.rejects(asked, NotFoundError)
    },
    async 'wrong key'() {
      await assert.rejects(connect('wrong').systemOne(ask('say')), AuthenticationError)
    },
  }
})
