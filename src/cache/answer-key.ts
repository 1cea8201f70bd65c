import type { Account } from '../core/accounts.ts'
import { type Api, capabilityOf } from '../core/capability.ts'
import {
  type CanonicalMember,
  readCanonicalMembers,
  writeCanonicalObject,
} from '../wire/canonical-json.ts'
import { strictUtf8 } from '../wire/json-steps.ts'
import type { TimeSlice } from '../wire/time-slice.ts'

/** Everything that decides which requests are equal. */
export interface KeyedRequest {
  readonly api: Api
  /** The model that the client asks for. */
  readonly model: string
  /** Changes when the settings of the model or of its fallbacks change. */
  readonly revision: string
  /** Undefined without auth. */
  readonly account: Account | undefined
  readonly isStream: boolean
  /** The body: a valid JSON object. */
  readonly bytes: Uint8Array
  /** What the request sends to the vendor besides its body: headers and query, in a fixed order. */
  readonly vendorFields: readonly string[]
}

/** Members that do not change the answer. Whether it is streamed is a part of its own. */
const ignored = quoted('stream', 'user', 'metadata')

/** Members that make the answer depend on what the vendor keeps, or make it come later. */
const stateful = quoted('previous_response_id', 'conversation', 'background', 'thread', 'container')

/**
 * Writes the text whose digest is the key of a request in the cache: two requests have the same text only
 * when they are equal and their answers may be shared. Undefined for a request that is never answered from
 * the cache, because the vendor keeps a state for it.
 */
export async function writeKeyText(
  request: KeyedRequest,
  slice: TimeSlice,
): Promise<string | undefined> {
  const { api, model, revision, account, isStream, bytes, vendorFields } = request
  const read = readCanonicalMembers(strictUtf8.decode(bytes), slice)
  const members = read instanceof Promise ? await read : read
  if (capabilityOf[api] === 'chat' && members.some(isStateful)) return undefined
  const body = writeCanonicalObject(members.filter(({ name }) => !ignored.has(name)))
  const form = isStream ? 'stream' : 'whole'
  const parts = [
    capabilityOf[api],
    api,
    form,
    model,
    revision,
    ...toScope(account),
    ...vendorFields,
  ]
  return `${JSON.stringify(parts)}${body}`
}

/** The names as JSON strings. */
function quoted(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => JSON.stringify(name)))
}

function isStateful({ name, value }: CanonicalMember): boolean {
  return stateful.has(name) && value !== 'null' && value !== 'false'
}

/** Answers are shared by the keys of a group; a key without a group shares them with no other. */
function toScope(account: Account | undefined): readonly string[] {
  if (!account) return ['none', '']
  const { groupId, keyId } = account
  return groupId === null ? ['key', keyId] : ['group', groupId]
}
