import type { AccountLimits } from '../../src/core/accounts.ts'

/** The limits of a key or a group that has none. */
export const unlimited: AccountLimits = Object.freeze({
  models: null,
  budgetMax: null,
  budgetPeriod: null,
  rpmLimit: null,
  tpmLimit: null,
  maxParallel: null,
  priority: null,
})

/** The fields of a new key or group without limits in the admin API, apart from `budget_max`. */
export const unlimitedFields = Object.freeze({
  models: null,
  budget_period: null,
  budget_reserved: 0,
  budget_resets_at: null,
  spent_total: 0,
  rpm_limit: null,
  tpm_limit: null,
  max_parallel: null,
  priority: null,
  in_flight: 0,
})
