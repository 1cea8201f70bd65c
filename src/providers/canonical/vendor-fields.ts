import type * as z from 'zod'
import { loose, validateAsSent } from '../../core/as-sent.ts'
import type { ChatRequest } from '../../core/chat.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import { isObject } from '../../wire/json/parse.ts'

/*
 * Fields that only one vendor has. Clients send them at the top level, or nested under `extra_body`, as SDKs
 * document it; those of Google also under `google`, as its own OpenAI-compatible API has them.
 */

/** The names of these fields, each with its row in the translation table. */
export const vendorFieldNames = [
  'thinking',
  'output_config',
  'context_management',
  'container',
  'mcp_servers',
  'anthropic_beta',
  'guardrail_config',
  'performance_config',
  'request_metadata',
  'additional_model_request_fields',
  'documents',
  'citation_options',
  'safety_mode',
] as const

/** The fields of Google, which may be nested in one more object. */
export const googleFieldNames = [
  'thinking_config',
  'safety_settings',
  'cached_content',
  'labels',
  'image_config',
  'media_resolution',
] as const

/** The members of a tool that only Anthropic has. */
export const anthropicToolMembers = ['defer_loading', 'input_examples', 'allowed_callers'] as const

/** Fields of one vendor that have another row or a second reader: they are lifted too. */
const sharedFieldNames = ['cache_control', 'service_tier', 'top_k'] as const

/** A request with all vendor fields at its top level. */
export interface LiftedRequest {
  readonly raw: ChatRequest
  /** The path of the object in which the client nested a field, by the field's name. */
  readonly nested: ReadonlyMap<string, string>
}

const nowhere: ReadonlyMap<string, string> = new Map()

/** Lifts nested vendor fields to the top level, where the same field wins. */
export function liftVendorFields(request: ChatRequest): LiftedRequest {
  const { google, extra_body: extra } = request
  // Most requests nest nothing, and need no copy.
  if (!isObject(google) && !isObject(extra)) return { raw: request, nested: nowhere }
  const lifted: Record<string, unknown> = {}
  const nested = new Map<string, string>()
  const lift = (names: readonly string[], path: string, holder: unknown) => {
    if (!isObject(holder)) return
    for (const name of names) {
      if (isAbsent(holder[name]) || !isAbsent(request[name]) || nested.has(name)) continue
      lifted[name] = holder[name]
      nested.set(name, path)
    }
  }
  const everyName = [...vendorFieldNames, ...googleFieldNames, ...sharedFieldNames]
  lift(googleFieldNames, 'google', google)
  lift(everyName, 'extra_body', extra)
  if (isObject(extra)) lift(googleFieldNames, 'extra_body.google', extra['google'])
  return { raw: { ...request, ...lifted }, nested }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** Returns the path at which the client put a field. */
export function getFieldPath({ nested }: LiftedRequest, field: string): string {
  const holder = nested.get(field)
  return holder === undefined ? field : `${holder}.${field}`
}

/**
 * Creates a reader of fields that few requests have: only a request that has one is validated. The reader
 * throws `UntranslatableError` for a field that is not valid.
 */
export function createOwnReader<Shape extends z.ZodRawShape>(
  shape: Shape,
): (request: LiftedRequest) => Partial<z.infer<z.ZodObject<Shape>>> {
  const names = Object.keys(shape)
  const schema = loose(shape)
  const none = Object.freeze({})
  return (request) => {
    const hasOne = names.some((name) => !isAbsent(request.raw[name]))
    return hasOne ? parseRequestFields(schema, request) : none
  }
}

/** Validates fields of a request. Throws `UntranslatableError` with the path at which the client put one. */
export function parseRequestFields<Fields>(
  schema: z.ZodType<Fields>,
  { raw, nested }: LiftedRequest,
): Fields {
  const parsed = validateAsSent(schema, raw)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw untranslatableField(parsed.error, nested.get(String(issue?.path[0])))
}
