import * as z from 'zod'
import { type KeyRing, mintKey, newKeyId, parseGroupId, parseKeyId } from '../auth/index.ts'
import type { AccountEvent, Notify } from '../core/account-event.ts'
import type { KeyState } from '../core/accounts.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { KeyId } from '../core/ids.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { KeyChange, KeyRow, Store } from '../store/index.ts'
import {
  type AdminRequest,
  type AdminRouteDeps,
  type AdminRoutes,
  budgetField,
  countField,
  grantBody,
  grantError,
  includesDeleted,
  nameField,
  readJson,
} from './input.ts'
import { noContent, renderKey, withoutCaching } from './render.ts'

export interface KeyRouteDeps extends AdminRouteDeps {
  readonly store: Pick<Store, 'createKey' | 'updateKey' | 'rotateKey' | 'deleteKey' | 'grantKey'>
  readonly accounts: KeyAccounts
  /** Writes what has been spent to the database. */
  readonly flush: () => Promise<void>
  readonly ring: Pick<KeyRing<KeyState>, 'put'>
  readonly notify: Notify
}

/** The keys in memory, tombstones included. */
export interface KeyAccounts {
  /** In the order of their creation. */
  listKeys(): Iterable<KeyState>
  getKey(id: KeyId): KeyState | undefined
  /** Adds the key, or replaces its record; what it has spent meanwhile stays. */
  putKey(row: KeyRow): KeyState
}

/**
 * The routes of virtual keys. Each change reads the same way: write the row, replace it in memory,
 * audit it, emit the event, answer. Rows come back in the order they were committed, so nothing may
 * be waited for between the first two.
 */
export function keyRoutes(deps: KeyRouteDeps): AdminRoutes {
  return {
    '/admin/keys': {
      GET: (matched) => listKeys(matched, deps),
      POST: (matched) => createKey(matched, deps),
    },
    '/admin/keys/:id': {
      GET: (matched) => showKey(matched, deps),
      PATCH: (matched) => changeKey(matched, deps),
      DELETE: (matched) => deleteKey(matched, deps),
    },
    '/admin/keys/:id/rotate': { POST: (matched) => rotateKey(matched, deps) },
    '/admin/keys/:id/grant': { POST: (matched) => grantKey(matched, deps) },
  }
}

const groupField = z
  .string({ error: 'must be the id of a group, or null' })
  .transform((text, { issues }) => {
    const id = parseGroupId(text)
    if (id !== undefined) return id
    issues.push({ code: 'custom', input: text, message: noGroup })
    return z.NEVER
  })
  .nullable()

const noGroup = 'no such group'

const newKeyBody = z.strictObject({
  name: nameField,
  budget_max: budgetField.default(null),
  rpm_limit: countField.default(null),
  tpm_limit: countField.default(null),
  expires_at: countField.default(null),
  group_id: groupField.default(null),
})

const keyChangeBody = z.strictObject({
  name: nameField.optional(),
  budget_max: budgetField.optional(),
  rpm_limit: countField.optional(),
  tpm_limit: countField.optional(),
  expires_at: countField.optional(),
  disabled: z.boolean({ error: 'must be true or false' }).optional(),
  group_id: groupField.optional(),
})

function listKeys(matched: AdminRequest, { accounts }: KeyRouteDeps): Reply {
  const all = includesDeleted(matched)
  const keys = [...accounts.listKeys()].filter(({ record }) => all || record.deletedAt === null)
  return jsonReply({ keys: keys.map(renderKey) })
}

function showKey({ params }: AdminRequest, { accounts }: KeyRouteDeps): Reply {
  const state = accounts.getKey(parseId(params))
  if (!state) throw unknownKey()
  return jsonReply(renderKey(state))
}

async function createKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const body = await readJson(matched, newKeyBody, deps)
  const { plaintext, digest } = mintKey()
  const row = await deps.store.createKey({
    id: newKeyId(),
    digest,
    name: body.name,
    groupId: body.group_id,
    budgetMax: body.budget_max,
    rpmLimit: body.rpm_limit,
    tpmLimit: body.tpm_limit,
    expiresAt: body.expires_at,
    disabled: false,
    createdAt: unixSeconds(deps.clock),
  })
  const state = replaceInMemory(row, deps)
  deps.audit({ action: 'key.create', subjectId: state.record.id }, matched.context)
  return withoutCaching(jsonReply({ ...renderKey(state), key: plaintext }, 201))
}

async function changeKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched.params)
  const body = await readJson(matched, keyChangeBody, deps)
  const row = await deps.store.updateKey(id, toKeyChange(body))
  // Only now: a change that was committed before this one may have disabled the key.
  const wasDisabled = deps.accounts.getKey(id)?.record.disabled === true
  const state = replaceInMemory(row, deps)
  deps.audit({ action: 'key.update', subjectId: id }, matched.context)
  if (state.record.disabled && !wasDisabled) {
    deps.notify(toKeyEvent('key.disabled', state, deps))
  }
  return jsonReply(renderKey(state))
}

async function rotateKey({ params, context }: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const { plaintext, digest } = mintKey()
  const id = parseId(params)
  const row = await deps.store.rotateKey(id, digest)
  const state = replaceInMemory(row, deps)
  deps.audit({ action: 'key.rotate', subjectId: id }, context)
  deps.notify(toKeyEvent('key.rotated', state, deps))
  return withoutCaching(jsonReply({ ...renderKey(state), key: plaintext }))
}

async function deleteKey({ params, context }: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(params)
  const row = await deps.store.deleteKey(id, unixSeconds(deps.clock))
  const state = replaceInMemory(row, deps)
  deps.audit({ action: 'key.delete', subjectId: id }, context)
  deps.notify(toKeyEvent('key.deleted', state, deps))
  // The key is gone whatever becomes of this: what it has spent stays due for the next flush.
  await deps.flush().catch(() => {})
  return noContent
}

async function grantKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched.params)
  const { amount } = await readJson(matched, grantBody, deps)
  const row = await deps.store.grantKey(id, amount)
  if (row === 'no-cap' || row === 'too-much') throw grantError(row)
  const state = replaceInMemory(row, deps)
  deps.audit({ action: 'key.grant', subjectId: id }, matched.context)
  return jsonReply(renderKey(state))
}

/** Puts what was committed in the place of what is in memory. */
function replaceInMemory(
  row: KeyRow | 'unknown-key' | 'unknown-group',
  { accounts, ring }: KeyRouteDeps,
): KeyState {
  if (row === 'unknown-key') throw unknownKey()
  if (row === 'unknown-group') throw invalid(`group_id: ${noGroup}`, 'group_id')
  const state = accounts.putKey(row)
  ring.put(row.digest, state)
  return state
}

function parseId({ id = '' }: AdminRequest['params']): KeyId {
  const known = parseKeyId(id)
  if (known === undefined) throw unknownKey()
  return known
}

function unknownKey(): GatewayError {
  return invalid('id: no such key, or it was deleted', 'id')
}

function toKeyChange(body: z.infer<typeof keyChangeBody>): KeyChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.budget_max !== undefined && { budgetMax: body.budget_max }),
    ...(body.rpm_limit !== undefined && { rpmLimit: body.rpm_limit }),
    ...(body.tpm_limit !== undefined && { tpmLimit: body.tpm_limit }),
    ...(body.expires_at !== undefined && { expiresAt: body.expires_at }),
    ...(body.disabled !== undefined && { disabled: body.disabled }),
    ...(body.group_id !== undefined && { groupId: body.group_id }),
  }
}

function toKeyEvent(
  type: AccountEvent['type'],
  { record, spent }: KeyState,
  deps: KeyRouteDeps,
): AccountEvent {
  return {
    type,
    scope: 'key',
    subjectId: record.id,
    name: record.name,
    budgetMax: record.budgetMax,
    budgetSpent: spent,
    threshold: null,
    timestamp: unixSeconds(deps.clock),
  }
}
