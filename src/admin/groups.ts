import * as z from 'zod'
import { newGroupId, parseGroupId } from '../auth/index.ts'
import type { GroupState } from '../core/accounts.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { GroupId } from '../core/ids.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { GroupChange, GroupRow, Store } from '../store/index.ts'
import {
  type AdminRequest,
  type AdminRouteDeps,
  type AdminRoutes,
  budgetField,
  grantBody,
  grantError,
  includesDeleted,
  nameField,
  readJson,
} from './input.ts'
import { noContent, renderGroup } from './render.ts'

export interface GroupRouteDeps extends AdminRouteDeps {
  readonly store: Pick<Store, 'createGroup' | 'updateGroup' | 'deleteGroup' | 'grantGroup'>
  readonly accounts: GroupRegistry
  /** Writes what has been spent to the database. */
  readonly flush: () => Promise<void>
}

/** The groups in memory, tombstones included. */
export interface GroupRegistry {
  /** In the order of their creation. */
  listGroups(): Iterable<GroupState>
  getGroup(id: GroupId): GroupState | undefined
  /** How many keys that are not deleted are in the group. */
  countMembers(id: GroupId): number
  /** Adds the group, or replaces its record; what it has spent meanwhile stays. */
  putGroup(row: GroupRow): GroupState
}

/** The routes of budget groups. They read as those of keys do, and nobody is told of a change. */
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

const newGroupBody = z.strictObject({
  name: nameField,
  budget_max: budgetField.default(null),
})

const groupChangeBody = z.strictObject({
  name: nameField.optional(),
  budget_max: budgetField.optional(),
})

function listGroups(matched: AdminRequest, { accounts }: GroupRouteDeps): Reply {
  const all = includesDeleted(matched)
  const groups = [...accounts.listGroups()].filter(({ record }) => all || record.deletedAt === null)
  return jsonReply({ groups: groups.map(renderGroup) })
}

function showGroup({ params }: AdminRequest, { accounts }: GroupRouteDeps): Reply {
  const state = accounts.getGroup(parseId(params))
  if (!state) throw unknownGroup()
  return jsonReply(renderGroup(state))
}

async function createGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const body = await readJson(matched, newGroupBody, deps)
  const row = await deps.store.createGroup({
    id: newGroupId(),
    name: body.name,
    budgetMax: body.budget_max,
    createdAt: unixSeconds(deps.clock),
    deletedAt: null,
  })
  const state = deps.accounts.putGroup(row)
  deps.audit({ action: 'group.create', subjectId: row.id }, matched.context)
  return jsonReply(renderGroup(state), 201)
}

async function changeGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const id = parseId(matched.params)
  const row = await deps.store.updateGroup(
    id,
    toGroupChange(await readJson(matched, groupChangeBody, deps)),
  )
  if (row === 'unknown-group') throw unknownGroup()
  const state = deps.accounts.putGroup(row)
  deps.audit({ action: 'group.update', subjectId: id }, matched.context)
  return jsonReply(renderGroup(state))
}

async function deleteGroup(
  { params, context }: AdminRequest,
  deps: GroupRouteDeps,
): Promise<Reply> {
  const id = parseId(params)
  const row = await deps.store.deleteGroup(id, unixSeconds(deps.clock))
  if (row === 'unknown-group') throw unknownGroup()
  if (row === 'has-members') throw hasMembers(deps.accounts.countMembers(id))
  deps.accounts.putGroup(row)
  deps.audit({ action: 'group.delete', subjectId: id }, context)
  // The group is gone whatever becomes of this: what it has spent stays due for the next flush.
  await deps.flush().catch(() => {})
  return noContent
}

async function grantGroup(matched: AdminRequest, deps: GroupRouteDeps): Promise<Reply> {
  const id = parseId(matched.params)
  const { amount } = await readJson(matched, grantBody, deps)
  const row = await deps.store.grantGroup(id, amount)
  if (row === 'unknown-group') throw unknownGroup()
  if (row === 'no-cap' || row === 'too-much') throw grantError(row)
  const state = deps.accounts.putGroup(row)
  deps.audit({ action: 'group.grant', subjectId: id }, matched.context)
  return jsonReply(renderGroup(state))
}

function parseId({ id = '' }: AdminRequest['params']): GroupId {
  const known = parseGroupId(id)
  if (known === undefined) throw unknownGroup()
  return known
}

/** A key that was made offline is in the database, and not yet among the known. */
function hasMembers(known: number): GatewayError {
  const keys = known === 1 ? '1 key that is' : `${known || 'some'} keys that are`
  return invalid(`the group has ${keys} not deleted: delete them or let them leave it first`)
}

function unknownGroup(): GatewayError {
  return invalid('id: no such group, or it was deleted', 'id')
}

function toGroupChange(body: z.infer<typeof groupChangeBody>): GroupChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.budget_max !== undefined && { budgetMax: body.budget_max }),
  }
}
