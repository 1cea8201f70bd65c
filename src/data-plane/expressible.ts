import type { Model } from '../core/provider.ts'
import type { ModelRoute } from '../core/route.ts'
import { UntranslatableError } from '../core/untranslatable-error.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Lists the fields of a request that a link would drop, as dotted paths. Throws `UntranslatableError` when
 * the link's dialect cannot express the request at all.
 */
export type ListDropped = (link: Model) => readonly string[]

/**
 * Checks that the request can be sent. LM-1001 when the requested model is `strict` and would have to
 * drop a field, and when no link of the chain can express the request. The targets of a route are
 * equal, so a strict one that would have to drop a field is only skipped.
 */
export function checkExpressible({ chain, balance }: ModelRoute, listDropped: ListDropped): void {
  const [first, ...others] = chain
  const dropped = tryListDropped(first, listDropped)
  const isExpressible = !(dropped instanceof UntranslatableError)
  const problem = isExpressible ? refuseDropped(first, dropped) : dropped
  if (!problem) return
  if (isExpressible && !balance) throw problem.toError()
  const isUnable = (link: Model) => {
    const fields = tryListDropped(link, listDropped)
    return fields instanceof UntranslatableError || refuseDropped(link, fields) !== undefined
  }
  if (others.every(isUnable)) throw problem.toError()
}

interface SkipContext {
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

/**
 * Returns why a link must be skipped: its dialect cannot express the request, or it is `strict` and
 * would have to drop a field. Notes and logs the fields that a link drops otherwise.
 */
export function explainSkip(
  link: Model,
  listDropped: ListDropped,
  { context, admitted }: SkipContext,
): UntranslatableError | undefined {
  const dropped = tryListDropped(link, listDropped)
  if (dropped instanceof UntranslatableError) return dropped
  const { log, id } = context
  admitted.noteDropped(dropped)
  if (dropped.length === 0) return undefined
  const refusal = refuseDropped(link, dropped)
  if (refusal) return refusal
  log.write('debug', 'fields dropped', {
    request_id: id,
    model: link.id,
    provider: link.provider.name,
    fields: [...new Set(dropped)],
  })
  return undefined
}

function tryListDropped(
  link: Model,
  listDropped: ListDropped,
): readonly string[] | UntranslatableError {
  try {
    return listDropped(link)
  } catch (error) {
    if (error instanceof UntranslatableError) return error
    throw error
  }
}

function refuseDropped(
  { provider }: Model,
  [field]: readonly string[],
): UntranslatableError | undefined {
  if (field === undefined || !provider.strict) return undefined
  return new UntranslatableError(`provider ${provider.name} cannot honour ${field}`, field)
}
