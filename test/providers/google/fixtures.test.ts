import { expect } from 'vitest'
import { providerKey } from '../../support/gateway.ts'
import { testFixtures } from '../../support/vendor-fixtures.ts'
import { end, googleGateway, saying } from './support.ts'

const callId = expect.stringMatching(/^call_\w{24}$/)

testFixtures({
  kind: 'google',
  createGateway: ({ upstreamId, strict } = {}) => googleGateway({ upstreamId, strict }),
  model: 'g',
  origin: 'https://generativelanguage.googleapis.com',
  headers: { 'x-goog-api-key': providerKey },
  answer: saying('Hi'),
  streamed: [end],
  placeholders: { '<now>': 1_764_000_000, '<call_1>': callId, '<call_2>': callId },
})
