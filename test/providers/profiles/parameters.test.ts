import { describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'

/** Sends a Responses request, and returns the body that the upstream got and what the answer says was dropped. */
async function send(kind: string, fields: object) {
  const address = kind === 'openai' ? '' : 'base_url = "http://up.test/v1"'
  const gateway = await testGateway(
    `[[providers]]\nname = "p"\nkind = "${kind}"\napi_key_env = "P_KEY"\n${address}\nresponses = false\nmodels = [{ id = "m" }]`,
  )
  gateway.upstream.next(json(completion('Hello')))
  const body = JSON.stringify({ model: 'm', input: 'Hi', ...fields })
  const response = await gateway.get('/v1/responses', { method: 'POST', body })
  expect(response.status).toBe(200)
  return { sent: gateway.upstream.body(), dropped: response.headers.get('x-gateway-dropped') }
}

describe('members that only some upstreams take', () => {
  test.each(['openai', 'mistral', 'cerebras'])(
    '%s gets the key of its prompt cache',
    async (kind) => {
      const { sent } = await send(kind, { prompt_cache_key: 'session-1' })
      expect(sent).toMatchObject({ prompt_cache_key: 'session-1' })
    },
  )

  test('an unknown upstream gets none, which changes no answer', async () => {
    const fields = {
      prompt_cache_key: 'session-1',
      service_tier: 'auto',
      text: { verbosity: 'medium' },
    }
    const { sent, dropped } = await send('vllm', fields)
    expect(sent).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    expect(dropped).toBeNull()
  })

  test('a tier and a verbosity that it does not have are named', async () => {
    const fields = { service_tier: 'priority', text: { verbosity: 'low' } }
    const { sent, dropped } = await send('vllm', fields)
    expect(sent).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    expect(dropped).toBe('service_tier,text.verbosity')
    const { sent: toOpenAi } = await send('openai', fields)
    expect(toOpenAi).toMatchObject({ service_tier: 'priority', verbosity: 'low' })
  })
})
