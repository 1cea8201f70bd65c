import { testFixtures } from '../../support/vendor-fixtures.ts'
import { anthropicGateway, message } from './support.ts'

testFixtures({
  kind: 'anthropic',
  createGateway: ({ upstreamId, strict } = {}) =>
    anthropicGateway({ upstreamId, settings: strict ? 'strict = true' : '' }),
  origin: 'https://api.anthropic.com',
  headers: { 'x-api-key': 'sk-ant-api03-canary' },
  answer: message([]),
})
