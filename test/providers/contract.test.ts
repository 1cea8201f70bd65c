import { anthropic } from './cases/anthropic.ts'
import { bedrock } from './cases/bedrock.ts'
import { cohere } from './cases/cohere.ts'
import { demo } from './cases/demo.ts'
import { google } from './cases/google.ts'
import { openai } from './cases/openai.ts'
import { vertexAi } from './cases/vertex_ai.ts'
import { testChatContract } from './contract.ts'

for (const kindCase of [openai, demo, anthropic, google, vertexAi, bedrock, cohere])
  testChatContract(kindCase)
