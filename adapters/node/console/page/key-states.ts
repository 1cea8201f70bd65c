import { formatDate } from './format.ts'
import type { Key, RecentRequest, Subject } from './shapes.ts'

/** What keys can be filtered by. `console` is for the keys that the console makes for its chat. */
export const keyStates = ['active', 'spent', 'disabled', 'expired', 'console'] as const

export type KeyStateName = (typeof keyStates)[number]

export interface KeyState {
  readonly name: KeyStateName
  readonly color: 'good' | 'bad' | 'none'
  readonly word: string
}

export interface Surroundings {
  readonly groups: readonly Subject[]
  /** The keys whose latest request was refused for a budget. */
  readonly refused: ReadonlySet<string>
  /** Unix seconds. */
  readonly now: number
}

/** Returns whether requests with a key are served, and why not. */
export function describeKey(key: Key, { groups, refused, now }: Surroundings): KeyState {
  const { disabled, expires_at: expiresAt, group_id: groupId } = key
  if (isOfConsole(key)) return { name: 'console', color: 'none', word: 'of the console' }
  if (disabled) return { name: 'disabled', color: 'none', word: 'disabled' }
  if (expiresAt !== null && expiresAt <= now) {
    return { name: 'expired', color: 'bad', word: `expired ${formatDate(expiresAt)}` }
  }
  if (isSpent(key)) return { name: 'spent', color: 'bad', word: 'budget spent' }
  const group = groups.find(({ id }) => id === groupId)
  if (group && isSpent(group)) return { name: 'spent', color: 'bad', word: 'group budget spent' }
  // What is left is too little for the reservation of a request.
  if (refused.has(key.id)) return { name: 'spent', color: 'bad', word: 'over budget' }
  const word = expiresAt === null ? 'active' : `until ${formatDate(expiresAt)}`
  return { name: 'active', color: 'good', word }
}

function isSpent({ budget_max: max, budget_spent: spent }: Subject): boolean {
  return max !== null && spent >= max
}

/** Returns the keys whose latest request was refused with LM-4001. `requests`: newest first. */
export function findRefused(requests: readonly RecentRequest[]): Set<string> {
  const latest = new Map<string, boolean>()
  for (const { key_id: id, error_code: code } of requests) {
    if (id !== null && !latest.has(id)) latest.set(id, code === 'LM-4001')
  }
  return new Set([...latest].flatMap(([id, isRefused]) => (isRefused ? [id] : [])))
}

/** What the console gives the key of its chat, in seconds; the server of the console has the same. */
const chatKeySeconds = 12 * 60 * 60

/** Whether the console has made the key for its chat, in this run or in one that was killed. */
export function isOfConsole({ name, created_at: created, expires_at: expires }: Key): boolean {
  // The server of the console reads its clock a little before the gateway does.
  return name === 'console' && Math.abs((expires ?? 0) - created - chatKeySeconds) < 60
}
