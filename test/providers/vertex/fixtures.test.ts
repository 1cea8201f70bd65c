import { expect } from 'vitest'
import { testFixtures } from '../../support/vendor-fixtures.ts'
import { event, saying, serviceAccount, token, vertexGateway } from './support.ts'

testFixtures({
  kind: 'vertex_ai',
  async createGateway({ secret, ...setup } = {}) {
    if (secret !== 'service-account') return vertexGateway({ ...setup, secret })
    const gateway = await vertexGateway({ ...setup, secret: serviceAccount })
    gateway.upstream.next(token('ya29.test'))
    return gateway
  },
  model: 'g',
  answer: saying('Hi'),
  streamed: [event(saying('Hi'))],
  placeholders: {
    '<now>': 1_764_000_000,
    '<LM-3010>': { code: 'LM-3010' },
    '<call_1>': expect.stringMatching(/^call_\w{24}$/),
  },
})
