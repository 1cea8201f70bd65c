import { isUnspecified } from './finish-reason.ts'

export type KnownMembers = Record<string, unknown>

/** Creates an object without a prototype, because the vendor chooses the names of its members. */
export function createMembers(): KnownMembers {
  return Object.create(null)
}

/** Takes over what later members say. A member that says nothing replaces none. */
export function replaceKnown(known: KnownMembers, next: Readonly<KnownMembers>): void {
  for (const name in next)
    if (!(name in known) || !saysNothing(next[name])) known[name] = next[name]
}

function saysNothing(value: unknown): boolean {
  if (typeof value === 'string') return value === '' || isUnspecified(value)
  return value === null || (Array.isArray(value) && value.length === 0)
}
