import type { Model } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import type { PreparedRequest } from './prepared-request.ts'

/** A request, as far as it is known what links can express of it. */
export type Expressible = Pick<PreparedRequest, 'listDropped' | 'prepareFor' | 'isHeavy'>

/**
 * Checks that the request can be sent. LM-1001 when the requested model is `strict` and would have to
 * drop a field, and when no link of the chain can express the request. The targets of a route are
 * equal, so a strict one that would have to drop a field is only skipped.
 */
export function checkExpressible(
  { chain, balance }: ModelRoute,
  request: Expressible,
): void | Promise<void> {
  const [first, ...others] = chain
  const { refusal, canExpress } = judgeLink(first, request)
  if (!refusal) return
  if (canExpress && !balance) throw refusal.toError()
  if (request.isHeavy) return checkOthers(others, { request, refusal })
  if (others.every((link) => judgeLink(link, request).refusal)) throw refusal.toError()
}

interface RefusedRequest {
  readonly request: Expressible
  /** That of the first link. */
  readonly refusal: UntranslatableError
}

/** Does the same for the further links of a heavy request, each of which takes long. */
async function checkOthers(
  others: readonly Model[],
  { request, refusal }: RefusedRequest,
): Promise<void> {
  for (const link of others) {
    await request.prepareFor(link)
    if (!judgeLink(link, request).refusal) return
  }
  throw refusal.toError()
}

interface SkipContext {
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

/** Returns why a link must be skipped. Notes and logs the fields that a link drops otherwise. */
export function explainSkip(
  link: Model,
  request: Expressible,
  { context, admitted }: SkipContext,
): UntranslatableError | undefined {
  const { dropped, refusal, canExpress } = judgeLink(link, request)
  if (canExpress) admitted.noteDropped(dropped)
  if (refusal) return refusal
  if (dropped.length === 0) return undefined
  const { log, id } = context
  log.write('debug', 'fields dropped', {
    request_id: id,
    model: link.id,
    provider: link.provider.name,
    fields: [...new Set(dropped)],
  })
  return undefined
}

/** What a link makes of a request. */
export interface LinkVerdict {
  /** The fields that the link cannot honour, as dotted paths. */
  readonly dropped: readonly string[]
  /**
   * Why the link is skipped: its dialect cannot express the request, or it is `strict` and would have to
   * drop a field.
   */
  readonly refusal: UntranslatableError | undefined
  /** False when the dialect cannot express the request. */
  readonly canExpress: boolean
}

/** Judges what a link can express of a request. */
export function judgeLink(link: Model, request: Expressible): LinkVerdict {
  try {
    const dropped = request.listDropped(link)
    return { dropped, refusal: refuseDropped(link, dropped), canExpress: true }
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error
    return { dropped: [], refusal: error, canExpress: false }
  }
}

function refuseDropped(
  { provider }: Model,
  [field]: readonly string[],
): UntranslatableError | undefined {
  if (field === undefined || !provider.strict) return undefined
  return new UntranslatableError(`provider ${provider.name} cannot honour ${field}`, field)
}
