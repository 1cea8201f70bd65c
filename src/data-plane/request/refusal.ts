import type { BudgetScope } from '../../core/accounts.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { RecordedRefusal } from '../../core/request-record.ts'
import { tryParseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { maskSecrets } from '../../wire/mask.ts'
import { startsObject } from './model-in-path.ts'
import type { RecordBuilder } from './record-builder.ts'

/**
 * Describes why the gateway refused a request by itself; undefined for failures of an upstream, of which the record
 * lists each link with its reason.
 */
export function describeRefusal(
  error: GatewayError,
  record: RecordBuilder,
): RecordedRefusal | undefined {
  // After a call the words may be those of a vendor, which may quote the request.
  if (record.attempts > 0 || !/^LM-[124]/.test(error.code)) return undefined
  const scope = readScope(error)
  return {
    reason: cleanReason(error.message),
    model: record.model ? undefined : cleanModel(findAskedModel(record)),
    scope,
    groupId: scope === 'group' ? (record.principal?.account?.groupId ?? undefined) : undefined,
  }
}

function readScope({ detail }: GatewayError): BudgetScope | undefined {
  const scope = detail.fields?.['scope']
  return scope === 'key' || scope === 'group' ? scope : undefined
}

const maxReasonLength = 300

/** The rest of a message after the place where a path of a JSON schema goes on with names that the client chose. */
const schemaNames = /(properties|patternProperties|definitions|\$defs)\..*$/isu

/** Returns the message of an error as the log has it. The messages contain no values of the request, which a test checks for every API. */
export function cleanReason(message: string): string {
  return maskSecrets(message.replace(schemaNames, '$1')).slice(0, maxReasonLength)
}

/** A larger body is not searched: a refusal must cost less than what it refuses. */
const maxSearchedBytes = 1_048_576

/** Returns the model that a request names, also when the rest of it could not be read. */
function findAskedModel({ asked, unread }: RecordBuilder): unknown {
  if (asked !== undefined || !unread || unread.length > maxSearchedBytes) return asked
  if (!startsObject(unread)) return undefined
  const [span] = scanLayout(unread, ['model']).spans.model
  return span && tryParseJson(unread.subarray(span.start, span.end))
}

/** Returns the name of a model if it could be one: a text with blanks may be something else. */
function cleanModel(name: unknown): string | undefined {
  if (typeof name !== 'string' || !/^[^\s\p{C}"]{1,128}$/u.test(name)) return undefined
  return maskSecrets(name)
}
