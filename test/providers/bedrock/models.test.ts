import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, type Setup } from './support.ts'

const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123xyz'

/** Returns the upstream body for a model and these fields. */
async function sent(upstreamId: string, fields: object, setup: Setup = {}): Promise<Body> {
  const { chat, upstream } = await bedrockGateway({ ...setup, upstreamId })
  upstream.next(json(answered([{ text: 'Hi' }])))
  const response = await chat({ ...asking(fields), model: setup.id ?? 'm' })
  expect(response.status, await response.clone().text()).toBe(200)
  // The tests compare every member that they name.
  return upstream.body() as Body
}

interface Body {
  readonly system?: unknown
  readonly messages: unknown
  readonly inferenceConfig?: unknown
  readonly toolConfig?: unknown
  readonly additionalModelRequestFields?: unknown
  readonly outputConfig?: unknown
  readonly serviceTier?: unknown
}

const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
})
describe('an ARN that does not name its model', () => {
  const fields = { reasoning_effort: 'low', top_k: 3 }

  test('the model is found by its client-facing id', async () => {
    const byId = await sent(profile, fields, { id: 'claude-opus-4-8' })
    expect(byId.additionalModelRequestFields).toMatchObject({ thinking: { type: 'adaptive' } })
    const other = await sent(profile, fields, { id: 'nova-pro' })
    expect(other.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 3 } })
  })

  test('an unknown model gets the fields that Converse has for all models', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const body = await sent(profile, {
      ...fields,
      tools: [tool('f')],
      tool_choice: 'required',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    })
    expect(body.toolConfig).toMatchObject({ toolChoice: { any: {} } })
    expect(body.outputConfig).toBeDefined()
    expect(body.additionalModelRequestFields).toBeUndefined()
  })

  test('an ARN that names its model wins over the client-facing id', async () => {
    const arn = 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0'
    const body = await sent(arn, { top_k: 3 }, { id: 'claude-sonnet-4-5' })
    expect(body.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 3 } })
  })
})
