import * as z from 'zod'
import { groupIdOf, newGroupId } from '../auth/index.ts'
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
  includesDeleted,
  nameField,
  readJson,
  refusedGrant,
} from './input.ts'
import { noContent, renderGroup } from './render.ts'

export interface GroupRouteDeps extends AdminRouteDeps {
  readonly store: Pick<Store, 'createGroup' | 'updateGroup' | 'deleteGroup' | 'grantGroup'>
  readonly accounts: GroupAccounts
  /** Writes what has been spent to the database. */
  readonly flush: () => Promise<void>
}

/** The groups in memory, tombstones included. */
export interface GroupAccounts {
  /** In the order of their creation. */
  groups(): Iterable<GroupState>
  group(id: GroupId): GroupState | undefined
  /** How many keys that are not deleted are in the group. */
  membersOf(id: GroupId): number
  /** Adds the group, or replaces its record; what it has spent meanwhile stays. */
  putGroup(row: GroupRow): GroupState
}

/** The routes of budget groups. They read as those of keys do, and nobody is told of a change. */
export function groupRoutes(desk: GroupRouteDeps): AdminRoutes {
  return {
    '/admin/groups': {
      GET: (matched) => listGroups(matched, desk),
      POST: (matched) => createGroup(matched, desk),
    },
    '/admin/groups/:id': {
      GET: (matched) => showGroup(matched, desk),
      PATCH: (matched) => changeGroup(matched, desk),
      DELETE: (matched) => deleteGroup(matched, desk),
    },
    '/admin/groups/:id/grant': { POST: (matched) => grantGroup(matched, desk) },
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
  const groups = [...accounts.groups()].filter(({ record }) => all || record.deletedAt === null)
  return jsonReply({ groups: groups.map(renderGroup) })
}

function showGroup({ params }: AdminRequest, { accounts }: GroupRouteDeps): Reply {
  const standing = accounts.group(idIn(params))
  if (!standing) throw unknownGroup()
  return jsonReply(renderGroup(standing))
}

async function createGroup(matched: AdminRequest, desk: GroupRouteDeps): Promise<Reply> {
  const body = await readJson(matched, newGroupBody, desk)
  const row = await desk.store.createGroup({
    id: newGroupId(),
    name: body.name,
    budgetMax: body.budget_max,
    createdAt: unixSeconds(desk.clock),
    deletedAt: null,
  })
  const standing = desk.accounts.putGroup(row)
  desk.audit({ action: 'group.create', subjectId: row.id }, matched.context)
  return jsonReply(renderGroup(standing), 201)
}

async function changeGroup(matched: AdminRequest, desk: GroupRouteDeps): Promise<Reply> {
  const id = idIn(matched.params)
  const row = await desk.store.updateGroup(
    id,
    changeOf(await readJson(matched, groupChangeBody, desk)),
  )
  if (row === 'unknown-group') throw unknownGroup()
  const standing = desk.accounts.putGroup(row)
  desk.audit({ action: 'group.update', subjectId: id }, matched.context)
  return jsonReply(renderGroup(standing))
}

async function deleteGroup(
  { params, context }: AdminRequest,
  desk: GroupRouteDeps,
): Promise<Reply> {
  const id = idIn(params)
  const row = await desk.store.deleteGroup(id, unixSeconds(desk.clock))
  if (row === 'unknown-group') throw unknownGroup()
  if (row === 'has-members') throw hasMembers(desk.accounts.membersOf(id))
  desk.accounts.putGroup(row)
  desk.audit({ action: 'group.delete', subjectId: id }, context)
  // The group is gone whatever becomes of this: what it has spent stays due for the next flush.
  await desk.flush().catch(() => {})
  return noContent
}

async function grantGroup(matched: AdminRequest, desk: GroupRouteDeps): Promise<Reply> {
  const id = idIn(matched.params)
  const { amount } = await readJson(matched, grantBody, desk)
  const row = await desk.store.grantGroup(id, amount)
  if (row === 'unknown-group') throw unknownGroup()
  if (row === 'no-cap' || row === 'too-much') throw refusedGrant(row)
  const standing = desk.accounts.putGroup(row)
  desk.audit({ action: 'group.grant', subjectId: id }, matched.context)
  return jsonReply(renderGroup(standing))
}

function idIn({ id = '' }: AdminRequest['params']): GroupId {
  const known = groupIdOf(id)
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

function changeOf(body: z.infer<typeof groupChangeBody>): GroupChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.budget_max !== undefined && { budgetMax: body.budget_max }),
  }
}
