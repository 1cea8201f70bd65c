import type { ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { bindDecisions } from '../openai/decisions.ts'

/** TypeSafe: decisions only. https://docs.typesafe.ai */
export const typesafe: ProviderKind = Object.freeze({
  name: 'typesafe',
  capabilities: ['decisions'],
  defaultBaseUrl: 'https://api.typesafe.ai/v1',
  ownSettings: ['cost_field', 'cost_unit'],
  canFetchImages: true,
  createAuthorizer: authorizeWithBearer,
  decisions: (target) => bindDecisions(target, { form: 'typesafe' }),
} satisfies ProviderKind)
