import { testFixtures } from '../../support/vendor-fixtures.ts'
import { answered, apiKey, bedrockGateway, streamed } from './support.ts'

testFixtures({
  kind: 'bedrock',
  createGateway: ({ upstreamId, strict } = {}) => bedrockGateway({ upstreamId, strict }),
  origin: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  headers: { authorization: `Bearer ${apiKey}` },
  answer: answered([{ text: 'Hi' }]),
  // Complete messages.
  binary: { encoding: 'base64', send: streamed },
})
