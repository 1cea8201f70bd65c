import { UntranslatableError } from '../core/cannot-express.ts'
import type { Model, ModelRoute } from '../core/provider.ts'
import type { Exchange } from './exchange.ts'

/**
 * The fields of a request that a link would drop, as dotted paths. Throws `UntranslatableError` when the
 * request has no form in the link's dialect.
 */
export type DroppedBy = (link: Model) => readonly string[]

/**
 * Judges a request before anything is done for it: LM-1001 when the first link's provider is `strict`
 * and would have to drop something, and when no link of the chain can express it.
 */
export function checkExpressible({ chain }: ModelRoute, droppedBy: DroppedBy): void {
  const [first, ...others] = chain
  const dropped = readDropped(first, droppedBy)
  if (!(dropped instanceof UntranslatableError)) {
    const refusal = strictRefusal(first, dropped)
    if (refusal) throw refusal.toError()
    return
  }
  const isUnable = (link: Model) => {
    const given = readDropped(link, droppedBy)
    return given instanceof UntranslatableError || strictRefusal(link, given) !== undefined
  }
  if (others.every(isUnable)) throw dropped.toError()
}

/**
 * Why a link is passed over: the request has no form in its dialect, or it is `strict` and would have
 * to drop something. What a link drops otherwise leaves a debug line.
 */
export function whyUnable(
  link: Model,
  droppedBy: DroppedBy,
  { log, id }: Exchange,
): UntranslatableError | undefined {
  const dropped = readDropped(link, droppedBy)
  if (dropped instanceof UntranslatableError) return dropped
  if (dropped.length === 0) return undefined
  const refusal = strictRefusal(link, dropped)
  if (refusal) return refusal
  log.write('debug', 'fields dropped', {
    request_id: id,
    model: link.id,
    provider: link.provider.name,
    fields: [...new Set(dropped)],
  })
  return undefined
}

function readDropped(link: Model, droppedBy: DroppedBy): readonly string[] | UntranslatableError {
  try {
    return droppedBy(link)
  } catch (error) {
    if (error instanceof UntranslatableError) return error
    throw error
  }
}

function strictRefusal(
  { provider }: Model,
  [field]: readonly string[],
): UntranslatableError | undefined {
  if (field === undefined || !provider.strict) return undefined
  return new UntranslatableError(`provider ${provider.name} cannot honour ${field}`, field)
}
