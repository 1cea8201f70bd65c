import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'

const page = readFileSync(new URL('../../docs/vendor-apis.md', import.meta.url), 'utf8')
const section = page.slice(page.indexOf('\n## Messages\n'), page.indexOf('\n## Text completions\n'))

const demo = `
[[providers]]
name = "demo"
kind = "demo"
models = [{ id = "demo" }]
`

test('the example of the Messages API gets a message', async () => {
  const [, path = '', body = ''] = /curl http:\/\/[^/]+(\S+) \\\n {2}-d '(.*)'/.exec(section) ?? []
  const { get } = await testGateway(demo)
  const response = await get(path, { method: 'POST', body })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
})

test('the example of an error is what the gateway answers', async () => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? []
  const { get } = await testGateway(demo)
  const body = JSON.stringify({
    model: 'another',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const response = await get('/v1/messages', { method: 'POST', body })
  const request_id = response.headers.get('request-id')
  expect(await response.json()).toEqual({ ...JSON.parse(json), request_id })
})
