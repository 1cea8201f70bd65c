import * as z from 'zod'
import type { AccountLimits } from '../core/accounts.ts'
import { budgetPeriods } from '../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../core/ids.ts'
import { parseBudget } from '../core/money.ts'
import { priorities } from '../core/room.ts'
import type { GroupChange } from '../store/index.ts'

/*
 * The fields of the limits that both keys and groups have.
 */

const budgetRule = 'must be 0, a number of US dollars from 1e-9 to 1e12, or null'

/** US dollars, parsed to at least `min` nano-dollars. */
export function amountField(error: string, min: bigint) {
  return z
    .number({ error })
    .transform(parseBudget)
    .refine((amount): amount is NanoUsd => amount !== undefined && amount >= min, { error })
}

const maxModels = 1_000
const modelsRule = `must be an array of 1 to ${maxModels} model ids, or null for all models`
const modelRule = 'must be a model id of 1 to 256 characters; only its last character may be *'

/** The id of a model that may be used, or the beginning of ids with a `*` after it. */
export const modelField = z
  .string({ error: modelRule })
  .regex(/^(?=.{1,256}$)[^*\p{Cc}\p{Cs}]*\*?$/u, { error: modelRule })

const modelsField = z
  .array(modelField, { error: modelsRule })
  .min(1, { error: modelsRule })
  .max(maxModels, { error: modelsRule })
  .nullable()

const periodField = z
  .enum(budgetPeriods, { error: `must be ${budgetPeriods.join(', ')} or null` })
  .nullable()

const countRule = 'must be a whole number of at least 0, or null'

/** A limit or a time; null for none. */
export const countField = z.int({ error: countRule }).nonnegative({ error: countRule }).nullable()

const priorityField = z
  .enum(priorities, { error: `must be ${priorities.join(', ')} or null` })
  .nullable()

const budgetField = amountField(budgetRule, 0n).nullable()

/** For a change: an absent field stays as it is. */
export const limitChangeFields = {
  models: modelsField.optional(),
  budget_max: budgetField.optional(),
  budget_period: periodField.optional(),
  rpm_limit: countField.optional(),
  tpm_limit: countField.optional(),
  max_parallel: countField.optional(),
  priority: priorityField.optional(),
}

/** For a new key or group: an absent limit is null. */
export const newLimitFields = {
  models: modelsField.default(null),
  budget_max: budgetField.default(null),
  budget_period: periodField.default(null),
  rpm_limit: countField.default(null),
  tpm_limit: countField.default(null),
  max_parallel: countField.default(null),
  priority: priorityField.default(null),
}

type LimitChanges = z.infer<z.ZodObject<typeof limitChangeFields>>
type NewLimits = z.infer<z.ZodObject<typeof newLimitFields>>

export function toLimits(body: NewLimits): AccountLimits {
  return {
    models: body.models,
    budgetMax: body.budget_max,
    budgetPeriod: body.budget_period,
    rpmLimit: body.rpm_limit,
    tpmLimit: body.tpm_limit,
    maxParallel: body.max_parallel,
    priority: body.priority,
  }
}

/** Returns only the limits that the body names. `at`: the time of the change. */
export function toLimitChanges(body: LimitChanges, at: UnixSeconds): GroupChange {
  const { budget_period: period } = body
  return {
    ...(body.models !== undefined && { models: body.models }),
    ...(body.budget_max !== undefined && { budgetMax: body.budget_max }),
    ...(period !== undefined && { budgetPeriod: { period, at } }),
    ...(body.rpm_limit !== undefined && { rpmLimit: body.rpm_limit }),
    ...(body.tpm_limit !== undefined && { tpmLimit: body.tpm_limit }),
    ...(body.max_parallel !== undefined && { maxParallel: body.max_parallel }),
    ...(body.priority !== undefined && { priority: body.priority }),
  }
}
