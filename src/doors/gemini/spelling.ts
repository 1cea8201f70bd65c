import { invalid } from '../../core/errors.ts'
import { defineMember } from '../../wire/json/define-member.ts'
import { isObject } from '../../wire/json/parse.ts'
import { countMembers, embedMembers, type Member, type Members } from './members.ts'

/**
 * Returns a request with the members that the gateway reads in camel case: clients write either spelling, and
 * Python's mixes them in one object. Where a list belongs, one item may stand by itself. Values of the user, such as
 * arguments and schemas, stay as they are, and so does every object that is in camel case already: only what changes
 * is copied. Throws LM-1001 for a member that stands there in both spellings.
 */
export function unifySpelling(value: object): object {
  return unify(value, countMembers, noPlace) as object
}

/** Does the same for a request for embeddings. */
export function unifyEmbedSpelling(value: object): object {
  return unify(value, embedMembers, noPlace) as object
}

/** Where a value is. The path is written only for a refusal: writing that of each value takes longer than the rest. */
interface Place {
  readonly key: string | number
  readonly parent: Place | undefined
}

type JsonObject = Record<string, unknown>

const noPlace: Place = Object.freeze({ key: '', parent: undefined })

function unify(value: unknown, shape: Member, place: Place): unknown {
  if (isList(shape)) return unifyList(value, shape[0], place)
  if (shape === null || !isObject(value)) return value
  const names = readNames(shape)
  let unified: JsonObject | undefined
  for (const name in value) {
    const known = names.get(name)
    if (known === undefined) continue
    if (known !== name) return rename(value, { shape, names, parent: place })
    const member = value[name]
    const changed = unify(member, shape[known] ?? null, { key: name, parent: place })
    if (changed === member) continue
    unified ??= { ...value }
    unified[name] = changed
  }
  return unified ?? value
}

interface Renaming {
  readonly shape: Members
  readonly names: ReadonlyMap<string, string>
  readonly parent: Place
}

/** Copies an object with its own members in camel case. */
function rename(value: JsonObject, { shape, names, parent }: Renaming): JsonObject {
  const unified: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    const known = names.get(name)
    const place = { key: known ?? name, parent }
    if (known !== undefined && Object.hasOwn(unified, known)) {
      const path = writePath(place)
      throw invalid(`${path}: must not appear in both spellings, ${known} and ${name}`, path)
    }
    defineMember(unified, known ?? name, unify(member, shape[known ?? ''] ?? null, place))
  }
  return unified
}

/** Returns a list of what may be one item. A text in place of objects stays: contents may be a text. */
function unifyList(value: unknown, item: Members | null, parent: Place): unknown {
  if (Array.isArray(value)) return unifyItems(value, item, parent)
  const isItem = item === null ? value !== undefined && value !== null : isObject(value)
  return isItem ? [unify(value, item, { key: 0, parent })] : value
}

function unifyItems(items: readonly unknown[], shape: Members | null, parent: Place): unknown {
  if (shape === null) return items
  let unified: unknown[] | undefined
  for (const [key, item] of items.entries()) {
    const changed = unify(item, shape, { key, parent })
    if (changed === item) continue
    unified ??= [...items]
    unified[key] = changed
  }
  return unified ?? items
}

function isList(shape: Member): shape is readonly [Members | null] {
  return Array.isArray(shape)
}

const namesByMembers = new WeakMap<Members, ReadonlyMap<string, string>>()

/** Returns the members of a shape by all their spellings. Looking up a name takes less time than rewriting it. */
function readNames(shape: Members): ReadonlyMap<string, string> {
  const known = namesByMembers.get(shape)
  if (known) return known
  const names = new Map(
    Object.keys(shape).flatMap((name) => listSpellings(name).map((spelled) => [spelled, name])),
  )
  namesByMembers.set(shape, names)
  return names
}

/** Lists the spellings of a name, itself first, in which each capital may be a small letter behind an underscore. */
export function listSpellings(name: string): readonly string[] {
  return name
    .split(/(?=[A-Z])/)
    .map((word, at) =>
      at === 0 ? [word] : [word, `_${word.charAt(0).toLowerCase()}${word.slice(1)}`],
    )
    .reduce((starts, ends) => starts.flatMap((start) => ends.map((end) => start + end)))
}

function writePath(place: Place): string {
  const keys: (string | number)[] = []
  for (let at: Place | undefined = place; at?.parent; at = at.parent) keys.push(at.key)
  return keys.reverse().join('.')
}
