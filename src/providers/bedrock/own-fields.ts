import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { toCamelCase } from '../base/camel-case.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { jsonObject } from '../canonical/tools.ts'
import { createOwnReader, getFieldPath } from '../canonical/vendor-fields.ts'

/** Reads the fields of Converse that no other API has: the names are those of AWS in snake case. */
const readGiven = createOwnReader({
  guardrail_config: jsonObject,
  performance_config: jsonObject,
  request_metadata: jsonObject,
  additional_model_request_fields: jsonObject,
})

/** The client's own fields in the form of Converse. */
export interface OwnFields {
  readonly guardrailConfig: unknown
  readonly performanceConfig: JsonObject | undefined
  readonly requestMetadata: JsonObject | undefined
  /** Members of `additionalModelRequestFields`. */
  readonly additional: JsonObject
}

/** Reads the client's own fields. Throws `UntranslatableError` for one that is not valid. */
export function readOwnFields(request: CanonicalRequest): OwnFields {
  const own = readGiven(request)
  const additional = own.additional_model_request_fields ?? {}
  checkBounds(additional, getFieldPath(request, 'additional_model_request_fields'))
  return {
    guardrailConfig: own.guardrail_config ? toCamelCase(own.guardrail_config) : undefined,
    performanceConfig: own.performance_config ?? undefined,
    requestMetadata: own.request_metadata ?? undefined,
    additional,
  }
}

const boundName = /^max_?\w*(?:token|len)/i

/** The gateway reserves the cost of a request by its bound, so no second one may hide in here. */
function checkBounds(fields: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(fields)) {
    const place = `${path}.${name}`
    if (boundName.test(name)) {
      throw new UntranslatableError(`${place}: set max_completion_tokens instead`, place)
    }
    if (isObject(value)) checkBounds(value, place)
  }
}
