import type { Account } from '../core/accounts.ts'
import { type Api, capabilityOf } from '../core/capability.ts'
import {
  type CanonicalMember,
  readCanonicalMembers,
  writeCanonicalObject,
} from '../wire/json/canonical.ts'
import { strictUtf8 } from '../wire/json/steps.ts'
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
  /** The media type of the stream, where it is not that of server-sent events. */
  readonly streamType?: string | undefined
  /** The body: a valid JSON object. */
  readonly bytes: Uint8Array
  /** What the request sends to the vendor besides its body: headers and query, in a fixed order. */
  readonly vendorFields: readonly string[]
}

/** The texts that decide which requests are equal. */
export interface KeyTexts {
  /** Equal for requests whose answers differ only in their form. */
  readonly answer: string
  /** Whether the answer is streamed, and how. */
  readonly form: string
}

/** Members that do not change the answer. A switch serves a request as another model, which is part of the key. */
const ignored = quoted('user', 'metadata', 'model')
/** Members that change only its form. */
const [stream, streamOptions] = ['"stream"', '"stream_options"']

/** Members that make the answer depend on what the vendor keeps, or make it come later. */
const stateful = quoted('previous_response_id', 'conversation', 'background', 'thread', 'container')

/**
 * Writes the texts of the key of a request: two requests have the same texts only when they are equal and
 * their answers may be shared. Undefined for a request that is never answered from the cache, because the
 * vendor keeps a state for it.
 */
export async function writeKeyTexts(
  request: KeyedRequest,
  slice: TimeSlice,
): Promise<KeyTexts | undefined> {
  const { api, model, revision, account, isStream, streamType, bytes, vendorFields } = request
  const read = readCanonicalMembers(strictUtf8.decode(bytes), slice)
  const members = read instanceof Promise ? await read : read
  if (capabilityOf[api] === 'chat' && members.some(isStateful)) return undefined
  const body: CanonicalMember[] = []
  let form = isStream ? (streamType ?? 'stream') : 'whole'
  for (const member of members) {
    if (member.name === streamOptions) form += ` ${member.value}`
    else if (member.name !== stream && !ignored.has(member.name)) body.push(member)
  }
  const parts = [capabilityOf[api], api, model, revision, ...toScope(account), ...vendorFields]
  return { answer: `${JSON.stringify(parts)}${writeCanonicalObject(body)}`, form }
}

/** The names as JSON strings. */
function quoted(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => JSON.stringify(name)))
}

function isStateful({ name, value }: CanonicalMember): boolean {
  return stateful.has(name) && value !== 'null' && value !== 'false'
}

/** Answers are shared by the keys of a group; a key without a group shares them with no other. */
export function toScope(account: Account | undefined): readonly string[] {
  if (!account) return ['none', '']
  const { groupId, keyId } = account
  return groupId === null ? ['key', keyId] : ['group', groupId]
}
