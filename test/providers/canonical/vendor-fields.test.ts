import { describe, expect, test } from 'vitest'
import { refused, sent, strict } from '../anthropic/support.ts'

const config = { output_config: { effort: 'low' } }

describe('a field of one vendor under extra_body', () => {
  test.each<[string, object]>([
    ['a field of its own', config],
    ['a field with a second reader', { top_k: 7 }],
    ['a field whose value is renamed', { service_tier: 'standard_only' }],
  ])('%s counts as at the top level', async (_, fields) => {
    const body = await sent({ extra_body: fields }, strict)
    expect(body).toEqual(await sent(fields, strict))
    expect(body).toMatchObject(fields)
  })

  test('the top level wins, unless it is null', async () => {
    const extra_body = { output_config: { effort: 'high' } }
    expect(await sent({ ...config, extra_body })).toMatchObject(config)
    expect(await sent({ output_config: null, extra_body })).toMatchObject(extra_body)
  })

  test('fields that the gateway routes or prices by stay where they are', async () => {
    const extra_body = { max_tokens: 9, model: 'x', stream: true, n: 2 }
    expect(await sent({ extra_body })).toEqual(await sent({}))
  })

  test.each([null, 'x', [], 7])('an extra_body of %j holds nothing', async (extra_body) => {
    expect(await sent({ extra_body })).toEqual(await sent({}))
  })

  test('errors name the place of the field', async () => {
    const wrong = { extra_body: { output_config: 'low' } }
    expect(await refused(wrong)).toMatchObject({
      code: 'LM-1001',
      message: 'extra_body.output_config: must be an object',
      param: 'extra_body.output_config',
    })
    const foreign = { extra_body: { google: { thinking_config: {} } } }
    expect(await refused(foreign, strict)).toMatchObject({
      code: 'LM-1001',
      param: 'extra_body.google.thinking_config',
    })
  })
})
