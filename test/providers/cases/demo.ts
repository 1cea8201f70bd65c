import type { ChatContractCase } from '../contract-case.ts'

export const demo: ChatContractCase = {
  kind: 'demo',
  upstreamId: 'demo',
  remoteImages: true,
  reasoning: false,
  jsonSchema: true,
}
