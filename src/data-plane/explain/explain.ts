import type { UsageEstimate } from '../../core/admission.ts'
import { GatewayError } from '../../core/errors.ts'
import { toClientError, UpstreamFault } from '../../core/failure.ts'
import type { Model, Provider } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'
import {
  estimateMaxCost,
  estimateMaxOutput,
  findDearest,
  listReservedLines,
} from '../../pricing/index.ts'
import type { PinnedSession } from '../../routing/index.ts'
import { describeCredentials } from '../../snapshot/index.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import type { RequestContext } from '../request/context.ts'
import { findSmall, measureContext, type SmallLinks } from '../request/context-window.ts'
import { leaveOut, type MissingPrice, noUnpriced, type UnpricedLinks } from '../request/unpriced.ts'
import { judgeLink } from '../serve/expressible.ts'
import type { PreparedRequest } from '../serve/prepared-request.ts'
import type { Service } from '../serve/service.ts'
import { maskAddress, redactFailure } from '../upstream/redact-failure.ts'
import type {
  ExplainedAdmission,
  ExplainedCall,
  ExplainedLink,
  Explanation,
  MaxUsage,
  ReservedPrices,
} from './explanation.ts'

/** Explains how a request would be handled now, by the steps that serve it. Changes nothing. */
export async function explainRequest(
  service: Service,
  request: Request,
  context: RequestContext,
): Promise<Explanation> {
  const prepared = await catchRefusal(() => service.prepare(request, context))
  if (prepared instanceof GatewayError) return refuseUnread(prepared)
  const { route, authenticated } = prepared
  // First, because the first link is prepared.
  const problem = await catchRefusal(() => prepared.check())
  await prepared.prepareEstimate()
  const estimate = authenticated.estimate(prepared)
  const session = authenticated.openSession(prepared)
  const order = authenticated.previewOrder(route, { estimate: () => estimate, session })
  const unpriced = problem ? noUnpriced : authenticated.previewUnpriced(prepared, estimate)
  const priced = await catchRefusal(() => leaveOut(route, unpriced))
  const error =
    problem ??
    (priced instanceof GatewayError
      ? priced
      : await catchRefusal(() => authenticated.previewAdmission(priced, () => estimate))) ??
    prepared.findFetchError()
  const small = findSmall(order, measureContext(prepared))
  const missing = problem ? noMissing : authenticated.findMissingPrices(prepared)
  const links: ExplainedLink[] = []
  const slice = context.startTimeSlice()
  for (const link of order) {
    const isCalled = problem === undefined
    links.push(
      await explainLink(link, {
        prepared,
        context,
        estimate,
        session,
        isCalled,
        unpriced,
        missing,
        small,
      }),
    )
    await slice.pause()
  }
  const { named = route.id, switched = [] } = authenticated
  return {
    route: { id: named, switches: switched },
    links,
    usage: measureUsage(priced instanceof GatewayError ? route : priced, estimate, context),
    admission: judgeAdmission(error),
    error,
  }
}

/** Returns what a step of a request returns, or the error that it refuses the request with. */
async function catchRefusal<Result>(
  step: () => Result | Promise<Result>,
): Promise<Result | GatewayError> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

function refuseUnread(error: GatewayError): Explanation {
  const admission = judgeAdmission(error)
  return { route: undefined, links: [], usage: undefined, admission, error }
}

function judgeAdmission(error: GatewayError | undefined): ExplainedAdmission {
  if (!error) return { verdict: 'admitted' }
  const scope = error.detail.fields?.['scope']
  const isLimit = scope === 'key' || scope === 'group'
  return { verdict: 'refused', code: error.code, scope: isLimit ? scope : undefined }
}

function measureUsage(
  { chain }: ModelRoute,
  estimate: UsageEstimate,
  { snapshot: { reserveOutputTokens } }: RequestContext,
): MaxUsage {
  const outputs = chain.map((link) => {
    const { tokens, choices } = estimateMaxOutput(link, estimate, reserveOutputTokens)
    return tokens * choices
  })
  const isFree = !chain.some(({ isPriced }) => isPriced)
  return {
    promptTokens: estimate.promptTokens,
    outputTokens: Math.max(...outputs),
    cost: isFree ? undefined : estimateMaxCost(chain, estimate, reserveOutputTokens),
  }
}

interface LinkContext {
  readonly prepared: PreparedRequest
  readonly context: RequestContext
  readonly estimate: UsageEstimate
  readonly session: PinnedSession | undefined
  /** False when the request itself is refused, so that no link is called. */
  readonly isCalled: boolean
  readonly unpriced: UnpricedLinks
  /** What the links lack on which the cost is not known. */
  readonly missing: ReadonlyMap<Model, MissingPrice>
  readonly small: SmallLinks
}

const noMissing: LinkContext['missing'] = new Map()

async function explainLink(
  link: Model,
  { prepared, context, estimate, session, isCalled, unpriced, missing, small }: LinkContext,
): Promise<ExplainedLink> {
  await prepared.prepareFor(link)
  const { dropped, refusal } = judgeLink(link, prepared)
  const passedOver = refusal?.toError() ?? unpriced.get(link) ?? small.get(link)
  const pinned = session?.findCredential(link)
  const asked = { link, preferred: pinned, prepared, context }
  const call = passedOver || !isCalled ? undefined : await explainCall(asked)
  const failure = call instanceof GatewayError ? call : undefined
  const { breakers } = context.resilience
  return {
    link,
    credential: describeCredential(link, context),
    // While its probe runs, a half-open circuit admits no other call.
    circuit: breakers.isOpen(link) ? 'open' : breakers.getState(link),
    rooms: link.room ? await context.rooms.read(link.room) : [],
    pinned: session?.target === link.id || pinned !== undefined,
    pinnedCredential: pinned,
    dropped: [...new Set(dropped)],
    cacheMarks: findMarks(link, estimate, call),
    reserved: link.isPriced ? findReserved(link, estimate, context) : undefined,
    missing: missing.get(link),
    error: passedOver ?? failure,
    upstream: call instanceof GatewayError ? undefined : call,
  }
}

/** A request with a mark of its own gets none of the gateway. */
function findMarks(
  { cacheMarker }: Model,
  { cacheLife }: UsageEstimate,
  call: ExplainedCall | GatewayError | undefined,
): readonly string[] | undefined {
  if (!cacheMarker || call === undefined || call instanceof GatewayError) return undefined
  if (cacheLife !== 'none') return []
  const body = call.body === undefined ? undefined : tryParseJson(call.body)
  return isObject(body) ? cacheMarker.list(body) : undefined
}

function findReserved(
  link: Model,
  estimate: UsageEstimate,
  { snapshot: { reserveOutputTokens } }: RequestContext,
): ReservedPrices {
  return {
    ...findDearest(link, estimate, reserveOutputTokens),
    amount: estimateMaxCost([link], estimate, reserveOutputTokens),
    lines: listReservedLines(link, estimate, reserveOutputTokens),
  }
}

function describeCredential(
  link: Model,
  { resilience: { credentials } }: RequestContext,
): ExplainedLink['credential'] {
  const known = describeCredentials(link.provider)
  if (!credentials.hasParked(link)) return known
  return { state: 'parked', detail: `parked (${known.detail})` }
}

/** The longest body that is shown, in bytes. */
const maxShownBytes = 1024 * 1024

interface AskedCall extends Pick<LinkContext, 'prepared' | 'context'> {
  readonly link: Model
  /** The name of the credential that goes first. */
  readonly preferred: string | undefined
}

/** Describes the first call to a link, or returns the error of a provider whose address is unknown. */
async function explainCall({
  link,
  preferred,
  prepared,
  context: { resilience, scope },
}: AskedCall): Promise<ExplainedCall | GatewayError | undefined> {
  const { provider } = link
  const { credentials } = resilience
  try {
    const request = prepared.buildRequest(link)
    if (!request) return undefined
    const complete = request.keyHeader
      ? undefined
      : credentials.previewNext({ link, preferred })?.authorize.complete
    const { url, body } = complete ? await scope.race(complete(request)) : request
    const isShown = body.length <= maxShownBytes
    const text = isShown ? new TextDecoder().decode(body) : undefined
    return { url: maskAddress(url, provider), body: text }
  } catch (error) {
    return toLinkError(error, provider)
  }
}

function toLinkError(error: unknown, provider: Provider): GatewayError {
  if (!(error instanceof UpstreamFault)) throw error
  return toClientError(redactFailure(error.failure, provider), provider.name)
}
