import * as z from 'zod'
import { type KeyRing, mintKey, newKeyId, parseGroupId, parseKeyId } from '../auth/index.ts'
import type { AccountEvent, Notify } from '../core/account-event.ts'
import type { KeyState } from '../core/accounts.ts'
import { invalid } from '../core/errors.ts'
import type { KeyId } from '../core/ids.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { KeyChange, KeyRow, Store } from '../store/index.ts'
import {
  type AccountRouteDeps,
  checkGrant,
  flushSpend,
  nameField,
  parsePathId,
  readGrant,
  selectListed,
  unknownId,
} from './accounts.ts'
import { type AdminRequest, type AdminRoutes, readJson, readOptionalJson } from './input.ts'
import {
  countField,
  limitChangeFields,
  newLimitFields,
  toLimitChanges,
  toLimits,
} from './limits.ts'
import { noContent, renderKey, withoutCaching } from './render.ts'

export interface KeyRouteDeps extends AccountRouteDeps {
  readonly store: Pick<Store, 'audited'>
  readonly accounts: ListedKeys
  readonly ring: Pick<KeyRing<KeyState>, 'put'>
  readonly notify: Notify
}

/** The keys in memory, tombstones included. */
export interface ListedKeys {
  /** In order of creation. */
  listKeys(): Iterable<KeyState>
  getKey(id: KeyId): KeyState | undefined
  /** Adds the key or replaces its record; its spend in memory stays. */
  putKey(row: KeyRow): KeyState
  /** Brings the spend and the counts of these up to date, where processes share them. */
  refresh(states: readonly KeyState[]): Promise<void> | void
}

/**
 * The routes of virtual keys. Each change takes the same steps: write the row and the
 * audit row, replace the row in memory, log the change, emit the event, answer. The database returns rows in the order of their
 * commits, so no step may wait between the first two.
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

/** The year 5138. Unix milliseconds of any recent day are above it. */
const maxExpiry = 100_000_000_000

const expiryField = countField.refine((value) => value === null || value <= maxExpiry, {
  error: 'must be in Unix seconds, not milliseconds',
})

/** The body of `POST /admin/keys`. */
export const newKeyBody = z.strictObject({
  name: nameField,
  ...newLimitFields,
  expires_at: expiryField.default(null),
  group_id: groupField.default(null),
})

/** The body of `PATCH /admin/keys/{id}`. */
export const keyChangeBody = z.strictObject({
  name: nameField.optional(),
  ...limitChangeFields,
  expires_at: expiryField.optional(),
  disabled: z.boolean({ error: 'must be true or false' }).optional(),
  group_id: groupField.optional(),
})

async function listKeys(matched: AdminRequest, { accounts }: KeyRouteDeps): Promise<Reply> {
  const keys = selectListed(matched, accounts.listKeys())
  await accounts.refresh(keys)
  return jsonReply({ keys: keys.map(renderKey) })
}

async function showKey(matched: AdminRequest, { accounts }: KeyRouteDeps): Promise<Reply> {
  const state = accounts.getKey(parseId(matched))
  if (!state) throw unknownId('key')
  await accounts.refresh([state])
  return jsonReply(renderKey(state))
}

async function createKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const body = await readJson(matched, newKeyBody, deps)
  const { plaintext, digest } = mintKey()
  const id = newKeyId()
  const entry = deps.audit.describe({ action: 'key.create', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).createKey({
    id,
    digest,
    name: body.name,
    groupId: body.group_id,
    ...toLimits(body),
    expiresAt: body.expires_at,
    disabled: false,
    createdAt: unixSeconds(deps.clock),
  })
  const state = replaceInMemory(row, deps)
  deps.audit.log(entry)
  return withoutCaching(jsonReply({ ...renderKey(state), key: plaintext }, 201))
}

async function changeKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const body = await readJson(matched, keyChangeBody, deps)
  const entry = deps.audit.describe({ action: 'key.update', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).updateKey(id, toKeyChange(body, deps))
  // Read only after the commit: an earlier change may have disabled the key in the meantime.
  const wasDisabled = deps.accounts.getKey(id)?.record.disabled === true
  const state = replaceInMemory(row, deps)
  deps.audit.log(entry)
  if (state.record.disabled && !wasDisabled) {
    deps.notify(toKeyEvent('key.disabled', state, deps))
  }
  await deps.accounts.refresh([state])
  return jsonReply(renderKey(state))
}

const graceRule = 'must be a whole number of seconds from 0 to 604800'

/** The body of `POST /admin/keys/{id}/rotate`. */
export const rotationBody = z.strictObject({
  grace_seconds: z
    .int({ error: graceRule })
    .min(0, { error: graceRule })
    .max(604_800, { error: graceRule })
    .default(0),
})

async function rotateKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const { grace_seconds: grace } = await readOptionalJson(matched, rotationBody, deps)
  const { plaintext, digest } = mintKey()
  const graceEndsAt = grace === 0 ? null : unixSeconds(deps.clock) + grace
  const entry = deps.audit.describe({ action: 'key.rotate', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).rotateKey(id, { digest, graceEndsAt })
  const state = replaceInMemory(row, deps)
  deps.audit.log(entry)
  deps.notify(toKeyEvent('key.rotated', state, deps))
  return withoutCaching(jsonReply({ ...renderKey(state), key: plaintext }))
}

/** Revokes a key for good. Its tombstone stays, so that its spend remains attributed. */
async function deleteKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const entry = deps.audit.describe({ action: 'key.delete', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).deleteKey(id, unixSeconds(deps.clock))
  const state = replaceInMemory(row, deps)
  deps.audit.log(entry)
  deps.notify(toKeyEvent('key.deleted', state, deps))
  await flushSpend(deps)
  return noContent
}

async function grantKey(matched: AdminRequest, deps: KeyRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const amount = await readGrant(matched, deps)
  const entry = deps.audit.describe({ action: 'key.grant', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).grantKey(id, amount)
  const state = replaceInMemory(checkGrant(row), deps)
  deps.audit.log(entry)
  await deps.accounts.refresh([state])
  return jsonReply(renderKey(state))
}

/** Replaces the record in memory and on the key ring by the committed row. */
function replaceInMemory(
  row: KeyRow | 'unknown-key' | 'unknown-group',
  { accounts, ring }: KeyRouteDeps,
): KeyState {
  if (row === 'unknown-key') throw unknownId('key')
  if (row === 'unknown-group') throw invalid(`group_id: ${noGroup}`, 'group_id')
  const state = accounts.putKey(row)
  ring.put(row, state)
  return state
}

function parseId(matched: AdminRequest): KeyId {
  return parsePathId(matched, 'key', parseKeyId)
}

function toKeyChange(body: z.infer<typeof keyChangeBody>, { clock }: KeyRouteDeps): KeyChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...toLimitChanges(body, unixSeconds(clock)),
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
