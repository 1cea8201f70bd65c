import { contractCases } from './cases/index.ts'
import { testChatContract } from './contract.ts'

for (const kindCase of contractCases) testChatContract(kindCase)
