/** The OpenAI SDK with decisions. */
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { pictureData, runChecks } from './checks.ts'

await runChecks(({ address, key, model }) => {
  const connect = (apiKey: string) =>
    new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 })
  const { decisions } = connect(key)
  const ask = (scenario: string): OpenAI.DecisionCreateParams => ({
    model: model(`decide--${scenario}`),
    input: 'Charged twice — “again”, in €.',
    questions: [
      { type: 'predicate', name: 'duplicate', instructions: 'Charged more than once?' },
      {
        type: 'choice',
        name: 'team',
        instructions: 'Who?',
        choices: [{ value: 'billing' }, { value: true, description: 'Errors' }],
      },
      {
        type: 'score',
        instructions: 'How upset?',
        levels: [{ label: 'calm' }, { label: 'angry' }],
      },
    ],
  })

  return {
    async decide() {
      const { answers, usage } = await decisions.create(ask('say'))
      assert.deepEqual(answers, [
        { type: 'predicate', name: 'duplicate', probability: 0.97 },
        {
          type: 'choice',
          name: 'team',
          choice: 'billing',
          confidence: 0.94,
          probabilities: [
            { value: 'billing', probability: 0.97 },
            { value: true, probability: 0.03 },
          ],
        },
        {
          type: 'score',
          name: null,
          score: 0.03,
          confidence: 0.94,
          probabilities: [
            { value: 0, label: 'calm', probability: 0.97 },
            { value: 1, label: 'angry', probability: 0.03 },
          ],
        },
      ])
      assert.ok(usage.input_tokens > 0)
    },
    async 'decide on parts'() {
      const content = [
        { type: 'input_text' as const, text: 'A ticket' },
        { type: 'input_json' as const, data: { amount: 9007199254740993n.toString(), n: 1 } },
        { type: 'input_image' as const, image_url: `data:image/png;base64,${pictureData}` },
      ]
      const { answers } = await decisions.create({
        ...ask('say'),
        input: [{ role: 'user', content }],
      })
      assert.equal(answers.length, 3)
    },
    async refuse() {
      await assert.rejects(decisions.create(ask('refuse')), OpenAI.BadRequestError)
    },
    async 'rate-limited'() {
      await assert.rejects(decisions.create(ask('rate-limited')), OpenAI.RateLimitError)
    },
    async 'unknown model'() {
      const asked = decisions.create({ ...ask('say'), model: 'no-such-model' })
      await assert.rejects(asked, OpenAI.NotFoundError)
    },
    async 'wrong key'() {
      const asked = connect('wrong').decisions.create(ask('say'))
      await assert.rejects(asked, OpenAI.AuthenticationError)
    },
  }
})
