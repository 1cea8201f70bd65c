import { providerKey } from '../../support/gateway.ts'
import { testFixtures } from '../../support/vendor-fixtures.ts'
import { answered, cohereGateway } from './support.ts'

testFixtures({
  kind: 'cohere',
  createGateway: ({ strict } = {}) => cohereGateway(strict ? 'strict = true' : ''),
  origin: 'https://api.cohere.com',
  headers: { authorization: `Bearer ${providerKey}` },
  answer: answered({}),
})
