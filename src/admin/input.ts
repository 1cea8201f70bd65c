import * as z from 'zod'
import type { Audit } from '../core/audit.ts'
import { invalid } from '../core/errors.ts'
import type { Bytes } from '../core/ids.ts'
import { invalidField, schemaMessages } from '../core/invalid-field.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { CancelSignal, Clock } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import { readBody } from '../wire/body.ts'
import type { BodyLimiter } from '../wire/body-limiter.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { readJsonBody } from '../wire/json/body.ts'
import { TimeSlice } from '../wire/time-slice.ts'

/** A request that matches an admin route. */
export interface AdminRequest {
  readonly request: Request
  /** The path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The signal aborts when the client disconnects. */
  readonly context: RequestOrigin & { readonly signal: CancelSignal }
}

export type AdminHandler = (matched: AdminRequest) => Reply | Promise<Reply>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Handlers by path and method. */
export type AdminRoutes = Readonly<Record<string, Readonly<Partial<Record<Method, AdminHandler>>>>>

/** The dependencies of every route that makes a change. */
export interface AdminRouteDeps extends BodyOptions {
  readonly audit: Audit
}

/** The dependencies for reading a request body. */
export interface BodyOptions {
  readonly clock: Clock
  /** The maximum size of a body, in bytes. */
  readonly bodyLimit: () => Bytes
  readonly bodyLimiter: BodyLimiter
}

/** Reads the whole body; LM-1002 when it is too large. Stops when the client disconnects. */
export async function readBytes(
  { request, context: { signal } }: AdminRequest,
  { clock, bodyLimit, bodyLimiter }: BodyOptions,
): Promise<Uint8Array> {
  const scope = new CancelScope(clock)
  // Only a response with a slow reader is ended to make room. This account holds a request body.
  const bufferAccount = bodyLimiter.buffers.openAccount(() => {})
  const slot = bodyLimiter.openSlot(bufferAccount)
  const onAbort = () => scope.end({ kind: 'client-cancelled' })
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    const wait = (entered: Promise<void>) => scope.race(entered)
    return await scope.race(readBody(request, { maxBytes: bodyLimit(), slot, wait }))
  } finally {
    signal.removeEventListener('abort', onAbort)
    scope.close()
    slot.release()
    bufferAccount.close()
  }
}

/** Reads the body and validates it; LM-1001 with the field at fault when it breaks the schema. */
export async function readJson<Shape extends z.ZodRawShape>(
  matched: AdminRequest,
  schema: z.ZodObject<Shape, z.core.$strict>,
  options: BodyOptions,
): Promise<z.infer<z.ZodObject<Shape, z.core.$strict>>> {
  return parseJson(await readBytes(matched, options), schema, options)
}

/** Like `readJson`, for a route whose body may be absent: then it counts as an object without fields. */
export async function readOptionalJson<Shape extends z.ZodRawShape>(
  matched: AdminRequest,
  schema: z.ZodObject<Shape, z.core.$strict>,
  options: BodyOptions,
): Promise<z.infer<z.ZodObject<Shape, z.core.$strict>>> {
  const bytes = await readBytes(matched, options)
  return parseJson(bytes.length === 0 ? emptyObject : bytes, schema, options)
}

const emptyObject = new TextEncoder().encode('{}')

async function parseJson<Shape extends z.ZodRawShape>(
  bytes: Uint8Array,
  schema: z.ZodObject<Shape, z.core.$strict>,
  { clock }: BodyOptions,
): Promise<z.infer<z.ZodObject<Shape, z.core.$strict>>> {
  const slice = new TimeSlice(clock, new CancelScope(clock))
  const { layout, value } = await readJsonBody(bytes, { names: [], unique: [], timeSlice: slice })
  if (layout.commas > maxItems) throw invalid(`the request body holds more than ${maxItems} items`)
  return validate(value, schema)
}

/** The validated body of a request, and the bytes of its members. */
export interface BodyMembers<Value> {
  readonly value: Value
  readonly members: Readonly<Partial<Record<keyof Value, Uint8Array>>>
}

/**
 * Like `readJson`, for a body with a member that may be as large as a body of the data plane. Each member
 * may occur once.
 */
export async function readJsonMembers<Shape extends z.ZodRawShape>(
  matched: AdminRequest,
  schema: z.ZodObject<Shape, z.core.$strict>,
  options: BodyOptions,
): Promise<BodyMembers<z.infer<z.ZodObject<Shape, z.core.$strict>>>> {
  const bytes = await readBytes(matched, options)
  const names = Object.keys(schema.shape)
  const { clock } = options
  const timeSlice = new TimeSlice(clock, new CancelScope(clock))
  const { layout, value } = await readJsonBody(bytes, { names, unique: names, timeSlice })
  const spans = Object.entries(layout.spans)
  const members = spans.flatMap(([name, [span]]) =>
    span ? [[name, bytes.subarray(span.start, span.end)]] : [],
  )
  return { value: validate(value, schema), members: Object.fromEntries(members) }
}

function validate<Shape extends z.ZodRawShape>(
  value: object,
  schema: z.ZodObject<Shape, z.core.$strict>,
): z.infer<z.ZodObject<Shape, z.core.$strict>> {
  const fields = Object.keys(schema.shape)
  const unknown = Object.keys(value).find((field) => !fields.includes(field))
  if (unknown !== undefined) {
    const param = unknown.slice(0, maxParamLength)
    throw invalid(`unknown field; this route takes ${fields.join(', ')}`, param)
  }
  const parsed = schema.safeParse(value, schemaMessages)
  if (!parsed.success) throw invalidField(parsed.error)
  return parsed.data
}

/** The maximum of commas in a body, far above what any of the schemas needs. */
const maxItems = 10_000

/** The maximum length of an unknown field or parameter name that an error repeats. */
export const maxParamLength = 100
