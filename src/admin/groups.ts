import * as z from 'zod'
import { newGroupId, parseGroupId } from '../auth/index.ts'
import type { GroupState } from '../core/accounts.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { GroupId } from '../core/ids.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { GroupChange, GroupRow, Store } from '../store/index.ts'
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
import { type AdminRequest, type AdminRoutes, readJson } from './input.ts'
import { limitChangeFields, newLimitFields, toLimitChanges, toLimits } from './limits.ts'
import { noContent, renderGroup } from './render.ts'

export interface GroupRouteDeps extends AccountRouteDeps {
  readonly store: Pick<Store, 'audited'>
  readonly accounts: GroupRegistry
}

/** The groups in memory, tombstones included. */
export interface GroupRegistry {
  /** In order of creation. */
  listGroups(): Iterable<GroupState>
  getGroup(id: GroupId): GroupState | undefined
  /** Counts the keys of the group that are not deleted. */
  countMembers(id: GroupId): number
  /** Adds the group or replaces its record; its spend in memory stays. */
  putGroup(row: GroupRow): GroupState
  /** Brings the spend and the counts of these up to date, where processes share them. */
  refresh(states: readonly GroupState[]): Promise<void> | void
}

/** The routes of budget groups. They work like those of keys, but emit no events. */
export function groupRoutes(deps: GroupRouteDeps): AdminRoutes {
  return {
    '/admin/groups': {
      GET: (matched) => listGroups(matched, deps),
      POST: (matched) => createGroup(matched, deps),
    },
    '/admin/groups/:id': {
      GET: (matched) => showGroup(matched, deps),
      PATCH: (matched) => changeGroup(matched, deps),
      DELETE: (matched) => deleteGroup(matched, deps),
    },
    '/admin/groups/:id/grant': { POST: (matched) => grantGroup(matched, deps) },
  }
}

/** The body of `POST /admin/groups`. */
export const newGroupBody = z.strictObject({
  name: nameField,
  ...newLimitFields,
})

/** The body of `PATCH /admin/groups/{id}`. */
export const groupChangeBody = z.strictObject({
  name: nameField.optional(),
  ...limitChangeFields,
})

async function listGroups(matched: AdminRequest, { accounts }: GroupRouteDeps): Promise<Reply> {
  const groups = selectListed(matched, accounts.listGroups())
  await accounts.refresh(groups)
  return jsonReply({ groups: groups.map(renderGroup) })
}

async function showGroup(matched: AdminRequest, { accounts }: GroupRouteDeps): Promise<Reply> {
  const state = accounts.getGroup(parseId(matched))
  if (!state) throw unknownId('group')
  await accounts.refresh([state])
  return jsonReply(renderGroup(state))
}

async function createGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const body = await readJson(matched, newGroupBody, deps)
  const id = newGroupId()
  const entry = deps.audit.describe({ action: 'group.create', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).createGroup({
    id,
    name: body.name,
    ...toLimits(body),
    createdAt: unixSeconds(deps.clock),
    deletedAt: null,
  })
  const state = deps.accounts.putGroup(row)
  deps.audit.log(entry)
  await deps.accounts.refresh([state])
  return jsonReply(renderGroup(state), 201)
}

async function changeGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const body = await readJson(matched, groupChangeBody, deps)
  const entry = deps.audit.describe({ action: 'group.update', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).updateGroup(id, toGroupChange(body, deps))
  const state = replaceInMemory(row, deps)
  deps.audit.log(entry)
  await deps.accounts.refresh([state])
  return jsonReply(renderGroup(state))
}

async function deleteGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const entry = deps.audit.describe({ action: 'group.delete', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).deleteGroup(id, unixSeconds(deps.clock))
  if (row === 'has-members') throw hasMembers(deps.accounts.countMembers(id))
  replaceInMemory(row, deps)
  deps.audit.log(entry)
  await flushSpend(deps)
  return noContent
}

async function grantGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const id = parseId(matched)
  const amount = await readGrant(matched, deps)
  const entry = deps.audit.describe({ action: 'group.grant', subjectId: id }, matched.context)
  const row = await deps.store.audited(entry).grantGroup(id, amount)
  const state = replaceInMemory(checkGrant(row), deps)
  deps.audit.log(entry)
  await deps.accounts.refresh([state])
  return jsonReply(renderGroup(state))
}

/** Replaces the record in memory by the committed row. */
function replaceInMemory(
  row: GroupRow | 'unknown-group',
  { accounts }: GroupRouteDeps,
): GroupState {
  if (row === 'unknown-group') throw unknownId('group')
  return accounts.putGroup(row)
}

function parseId(matched: AdminRequest): GroupId {
  return parsePathId(matched, 'group', parseGroupId)
}

/** `known` may be 0: a key that was created offline is in the database, but not yet in memory. */
function hasMembers(known: number): GatewayError {
  const keys = known === 1 ? '1 key that is' : `${known || 'some'} keys that are`
  return invalid(`the group has ${keys} not deleted: delete them or remove them from it first`)
}

function toGroupChange(
  body: z.infer<typeof groupChangeBody>,
  { clock }: GroupRouteDeps,
): GroupChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...toLimitChanges(body, unixSeconds(clock)),
  }
}
