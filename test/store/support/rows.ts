import type { BudgetGroup } from '../../../src/core/accounts.ts'
import type { GroupId, KeyId, NanoUsd } from '../../../src/core/ids.ts'
import { type NewKey, type NewUsageRow, plainBill } from '../../../src/store/index.ts'
import { unlimited } from '../../support/unlimited.ts'

export const usd = (dollars: number) => BigInt(Math.round(dollars * 1e9)) as NanoUsd
export const keyId = (name: string) => name as KeyId
export const groupId = (name: string) => name as GroupId

export function newKey(id: string, members: Partial<NewKey> = {}): NewKey {
  return {
    id: keyId(id),
    digest: `digest of ${id}`,
    name: id.toUpperCase(),
    groupId: null,
    ...unlimited,
    expiresAt: null,
    disabled: false,
    createdAt: 1_000,
    ...members,
  }
}

export function newGroup(id: string, members: Partial<BudgetGroup> = {}): BudgetGroup {
  return {
    id: groupId(id),
    name: id.toUpperCase(),
    ...unlimited,
    createdAt: 1_000,
    deletedAt: null,
    ...members,
  }
}

export function usageRow(members: Partial<NewUsageRow> = {}): NewUsageRow {
  return {
    ts: 1_000,
    requestId: 'request-1',
    keyId: 'key-1',
    groupId: null,
    model: 'gpt',
    modelUsed: 'gpt',
    provider: 'openai',
    capability: 'chat',
    api: 'chat',
    stream: false,
    tokensIn: 10,
    tokensOut: 5,
    tokensTotal: 15,
    estimated: false,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    searchUnits: 0,
    mediaCount: 0,
    mediaBytes: 0,
    cost: usd(0.001),
    latencyMs: 120,
    ttftMs: null,
    attempts: 1,
    cacheHit: false,
    status: 200,
    errorCode: null,
    metadata: {},
    ...plainBill,
    queuedMs: null,
    failure: null,
    ...members,
  }
}
