import type { UnsavedUsage } from '../accounting/index.ts'
import { noAuth } from '../core/admission.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { AccessControl } from './access-control.ts'

const allSaved: UnsavedUsage = Object.freeze({ rows: 0, spend: 0n as NanoUsd })

/** With auth off: every request is admitted, and there is no database and no admin API. */
export const noAccessControl: AccessControl = Object.freeze({
  authenticator: noAuth,
  budgets: () => [],
  record() {},
  recordPending: () => () => {},
  reported: undefined,
  check: () => undefined,
  providerKeys: async () => new Map(),
  async adopt() {},
  adminRoutes: () => ({}),
  ownKeyRoutes: () => ({}),
  followChanges() {},
  close: async () => allSaved,
  abandon() {},
})
