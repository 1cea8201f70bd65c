import * as z from 'zod'
import type { Audit } from '../core/audit.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { NanoUsd } from '../core/ids.ts'
import { invalidField, schemaMessages } from '../core/invalid-field.ts'
import { parseBudget } from '../core/money.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { CancelSignal, Clock } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import type { GrantError } from '../store/index.ts'
import { readBody } from '../wire/body.ts'
import type { BodyLimiter } from '../wire/body-limiter.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { readJsonBody } from '../wire/json-body.ts'
import { TimeSlice } from '../wire/time-slice.ts'

/** A request that an admin route has matched. */
export interface AdminRequest {
  readonly request: Request
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  /** The signal aborts when the client has left. */
  readonly context: RequestOrigin & { readonly signal: CancelSignal }
}

export type AdminHandler = (matched: AdminRequest) => Reply | Promise<Reply>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Handlers by path and method. */
export type AdminRoutes = Readonly<Record<string, Readonly<Partial<Record<Method, AdminHandler>>>>>

/** What the routes that change something need. */
export interface AdminRouteDeps extends BodyOptions {
  readonly audit: Audit
}

/** How bodies are read. */
export interface BodyOptions {
  readonly clock: Clock
  /** The longest body that is taken, in bytes. */
  readonly bodyLimit: () => number
  readonly intake: BodyLimiter
}

/** The whole body; LM-1002 when it is too long. The wait for it ends when the client leaves. */
export async function readBytes(
  { request, context: { signal } }: AdminRequest,
  { clock, bodyLimit, intake }: BodyOptions,
): Promise<Uint8Array> {
  const scope = new CancelScope(clock)
  // Nobody reads an answer here that could be too slow.
  const share = intake.buffers.openAccount(() => {})
  const place = intake.openSlot(share)
  const gone = () => scope.end({ kind: 'client-cancelled' })
  signal.addEventListener('abort', gone)
  if (signal.aborted) gone()
  try {
    const wait = (entered: Promise<void>) => scope.race(entered)
    return await scope.race(readBody(request, { maxBytes: bodyLimit(), slot: place, wait }))
  } finally {
    signal.removeEventListener('abort', gone)
    scope.close()
    place.release()
    share.close()
  }
}

/** The body as the schema describes it; LM-1001 with the field at fault when it is anything else. */
export async function readJson<Shape extends z.ZodRawShape>(
  matched: AdminRequest,
  schema: z.ZodObject<Shape, z.core.$strict>,
  options: BodyOptions,
): Promise<z.infer<z.ZodObject<Shape, z.core.$strict>>> {
  const bytes = await readBytes(matched, options)
  const { clock } = options
  const pace = new TimeSlice(clock, new CancelScope(clock))
  const { layout, value } = await readJsonBody(bytes, { names: [], unique: [], timeSlice: pace })
  if (layout.commas > maxItems) throw invalid(`the request body holds more than ${maxItems} items`)
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

/** Far more than any of these bodies has use for, numbers included. */
const maxItems = 10_000

/** A client's own name for a field comes back to it, but not at any length. */
const maxParamLength = 100

/** Whether tombstones are asked for; LM-1001 for any other parameter and any other value. */
export function includesDeleted({ request }: AdminRequest): boolean {
  const query = [...new URL(request.url).searchParams]
  const other = query.find(([name]) => name !== 'include_deleted')
  if (other) {
    throw invalid(
      'unknown parameter; this route takes include_deleted',
      other[0].slice(0, maxParamLength),
    )
  }
  const [value, ...more] = query.map(([, given]) => given)
  if (more.length > 0 || (value !== undefined && value !== 'true' && value !== 'false')) {
    throw invalid('include_deleted: must be true or false, once', 'include_deleted')
  }
  return value === 'true'
}

const nameRule = 'must be 1 to 256 characters, not all of them blank and none a control character'

/** A name for people. Lone surrogates would not survive the database. */
export const nameField = z
  .string({ error: nameRule })
  .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,256}$/u, { error: nameRule })

const countRule = 'must be a whole number that is not negative, or null'

/** A limit or a time; null for none. */
export const countField = z.int({ error: countRule }).nonnegative({ error: countRule }).nullable()

const budgetRule = 'must be 0, a number of US dollars from 1e-9 to 1e12, or null'

/** A cap; null for none. */
export const budgetField = amountField(budgetRule, 0n).nullable()

const amountRule = 'must be a number of US dollars from 1e-9 to 1e12'

/** The body of a grant. */
export const grantBody = z.strictObject({ amount: amountField(amountRule, 1n) })

/** US dollars, which become at least so many nano-dollars. */
function amountField(error: string, least: bigint) {
  return z
    .number({ error })
    .transform(parseBudget)
    .refine((amount): amount is NanoUsd => amount !== undefined && amount >= least, { error })
}

/** LM-1001 for a grant that breaks no rule by itself, but does not fit what it is for. */
export function grantError(refusal: GrantError): GatewayError {
  switch (refusal) {
    case 'no-cap':
      return invalid('amount: there is no budget_max to add to; set one first', 'amount')
    case 'too-much':
      return invalid('amount: budget_max would pass 1e12 US dollars', 'amount')
    default:
      return refusal satisfies never
  }
}
