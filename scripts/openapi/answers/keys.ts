import * as z from 'zod'
import { budgetPeriods } from '../../../src/core/budget-period.ts'
import { priorities } from '../../../src/core/room.ts'
import { count, text, time, usd } from './values.ts'

const limits = {
  models: z.array(text).nullable(),
  budget_max: usd.nullable(),
  budget_period: z.enum(budgetPeriods).nullable(),
  budget_spent: usd.describe('US dollars spent in the running period.'),
  budget_reserved: usd.describe('US dollars that running requests may still spend.'),
  budget_resets_at: time.nullable(),
  spent_total: usd,
  rpm_limit: count.nullable(),
  tpm_limit: count.nullable(),
  max_parallel: count.nullable(),
  priority: z
    .enum(priorities)
    .nullable()
    .describe(
      'Who goes first where requests wait for an upstream. Null for a key: that of its group.',
    ),
  in_flight: count,
}

const left = z
  .strictObject({ limit: count, remaining: count })
  .nullable()
  .describe('Null without a limit.')

/** What the holder of a key sees of the limits of the key, or of its group. */
const amounts = {
  budget: z.strictObject({
    max: usd.nullable(),
    spent: usd,
    reserved: usd,
    period: z.enum(budgetPeriods).nullable(),
    resets_at: time.nullable(),
  }),
  limits: z.strictObject({ rpm: left, tpm: left, max_parallel: left }),
}

const key = z.strictObject({
  id: text,
  name: text,
  group_id: text.nullable(),
  ...limits,
  expires_at: time.nullable(),
  disabled: z.boolean(),
  grace_ends_at: time.nullable().describe('Until when the former secret is valid.'),
  created_at: time,
  deleted_at: time.nullable(),
})

const group = z.strictObject({
  id: text,
  name: text,
  ...limits,
  created_at: time,
  deleted_at: time.nullable(),
})

/** The answers about keys and groups. */
export const keysAnswers = {
  Key: key,
  OwnKey: z.strictObject({
    name: text,
    group: text.nullable().describe('The name of its group.'),
    models: z.array(text).nullable().describe('Null: all models.'),
    expires_at: time.nullable(),
    ...amounts,
    group_amounts: z.strictObject(amounts).optional(),
  }),
  KeyWithSecret: key.extend({ key: text.describe('The secret. It is shown only once.') }),
  KeyList: z.strictObject({ keys: z.array(key) }),
  Group: group,
  GroupList: z.strictObject({ groups: z.array(group) }),
}
