import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'

describe('a gateway mounted on /llm', () => {
  test.each([
    ['/llm', 200],
    ['/llm/', 200],
    ['/llm/v1/models?after=m', 200],
    ['/v1/models', 200],
    ['/llmv1/models', 404],
    ['/llm/v2/models', 404],
    ['/llm/../admin/keys', 400],
  ])('%s is answered with %i', async (path, status) => {
    const { gateway } = await testGateway()
    // `new Request` would resolve the dots itself.
    const request = new Request('http://gateway.test/')
    Object.defineProperty(request, 'url', { value: `http://gateway.test${path}` })
    expect(await gateway.fetch(request, { base: '/llm' })).toMatchObject({ status })
  })

  test('routes with parameters are found below the base', async () => {
    const { gateway } = await testGateway()
    const request = new Request('http://gateway.test/llm/v1/models/m')
    const answer = await gateway.fetch(request, { base: '/llm' })
    expect(await answer.json()).toMatchObject({ id: 'm' })
  })
})
