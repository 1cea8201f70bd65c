import * as z from 'zod'
import type { AdminClient } from '../admin/client.ts'
import { CommandFailure } from '../failures/command-failure.ts'

/** What has an id and a name. */
export interface Named {
  readonly noun: 'key' | 'group'
  /** The id, its first digits, or the name. */
  readonly given: string
}

/** How many digits of an id are enough, if no other record has them. */
const minDigits = 4

/**
 * Resolves to the id of a key or a group. Rejects with a `CommandFailure` of code 2 when no record, or more than one,
 * has the name or begins with the digits. A whole id is not looked up, so it may be that of a deleted record.
 */
export async function findId(admin: AdminClient, { noun, given }: Named): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(given)) return given
  const answer = listSchema.parse(await admin.send('GET', `/admin/${noun}s`))
  const records = answer[`${noun}s`] ?? []
  const isBeginning = new RegExp(`^[0-9a-f]{${minDigits},31}$`).test(given)
  const found = records.filter(
    ({ id, name }) => name === given || (isBeginning && id.startsWith(given)),
  )
  const [only, ...others] = found
  if (only === undefined) {
    throw new CommandFailure(
      2,
      `id: no ${noun} has the name ${quote(given)}, or an id that begins so`,
    )
  }
  if (others.length === 0) return only.id
  const ids = found.slice(0, maxListed).map(({ id }) => id)
  const more = found.length > maxListed ? `, and ${found.length - maxListed} more` : ''
  throw new CommandFailure(
    2,
    `id: ${found.length} ${noun}s have the name ${quote(given)}, or an id that begins so; give the id: ${ids.join(', ')}${more}`,
  )
}

const maxListed = 5

const quote = (text: string) => JSON.stringify(text)

const recordsSchema = z.array(z.looseObject({ id: z.string(), name: z.string() })).optional()

const listSchema = z.looseObject({ keys: recordsSchema, groups: recordsSchema })

/** Resolves to the names of all groups by their ids, deleted ones too. */
export async function readGroupNames(admin: AdminClient): Promise<ReadonlyMap<string, string>> {
  const answer = await admin.send('GET', '/admin/groups?include_deleted=true')
  return new Map((listSchema.parse(answer).groups ?? []).map(({ id, name }) => [id, name]))
}
