import type { Account } from '../../core/accounts.ts'
import type { Admission, Principal, UsageEstimate } from '../../core/admission.ts'
import type { NamedSession, RouteAffinity } from '../../core/affinity.ts'
import { capabilityOf } from '../../core/capability.ts'
import { GatewayError } from '../../core/errors.ts'
import type { PriceAsk } from '../../core/price-table.ts'
import type { Model } from '../../core/provider.ts'
import type { ModelRoute, SwitchRoute } from '../../core/route.ts'
import { runInSteps } from '../../core/steps.ts'
import type { SwitchStep } from '../../core/switch.ts'
import type { Place } from '../../rooms/index.ts'
import { chooseRoute, type PinnedSession } from '../../routing/index.ts'
import { readBody } from '../../wire/body.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { CacheUse } from '../cache/use.ts'
import { modelForbidden } from '../models/model-access.ts'
import { AdmittedRequest, type RunningRequest } from './admitted.ts'
import { measureContext, type SizedRequest } from './context-window.ts'
import { estimateCosts, orderRoute } from './link-order.ts'
import { putModelInBody } from './model-in-path.ts'
import type { RequestContextOptions } from './options.ts'
import {
  type AskOptions,
  type EstimatedRequest,
  readPriceAsk,
  readPriceAskInSteps,
} from './price-ask.ts'
import { RequestFacts, type SwitchedRequest } from './switch-facts.ts'
import {
  findUnpriced,
  findUnpricedLinks,
  leaveOut,
  type MissingPrice,
  noUnpriced,
  type PricedRequest,
  type UnpricedLinks,
} from './unpriced.ts'

/** A request whose sender is known. */
export class AuthenticatedRequest {
  readonly #context: RunningRequest
  readonly #options: RequestContextOptions
  readonly #principal: Principal
  /** What the prices depend on was read before the admission. */
  #isAskRead = false

  constructor(context: RunningRequest, options: RequestContextOptions, principal: Principal) {
    this.#context = context
    this.#options = options
    this.#principal = principal
  }

  /** The id of the key; undefined without auth. */
  get keyId(): string | undefined {
    return this.#principal.account?.keyId
  }

  /** The account that the request would be charged to; undefined without auth. */
  get account(): Account | undefined {
    return this.#principal.account
  }

  /** Whether the client asks for a stream, once the model is resolved. */
  get isStream(): boolean {
    return this.#options.record.stream
  }

  /**
   * Resolves to the whole body, with the model that the path names, once it may be parsed; LM-1002
   * when it is over the limit. Large bodies are parsed one at a time: the next one after
   * `releaseParser`.
   */
  async readBody(request: Request): Promise<Uint8Array> {
    const { slot, snapshot, scope, modelInPath, record } = this.#options
    const wait = (turn: Promise<void>) => this.#wait(turn)
    const bytes = await scope.race(readBody(request, { maxBytes: snapshot.bodyLimit, slot, wait }))
    const turn = slot.startParsing()
    if (turn) await wait(turn)
    const named = modelInPath === undefined ? bytes : putModelInBody(bytes, modelInPath)
    record.unread = named
    return named
  }

  /** The id that the request names, once it is resolved. */
  get named(): string | undefined {
    return this.#options.record.model?.id
  }

  /** The switches that have chosen the route, once it is resolved; undefined where none has. */
  get switched(): readonly SwitchStep[] | undefined {
    return this.#options.record.switched
  }

  /**
   * The route of the model that a request names; LM-2001, LM-4005, LM-2002. A switch chooses by the `request`, and
   * its targets need not be allowed themselves.
   */
  resolve({ model, stream = false }: NamedModel, request: SwitchedRequest): ModelRoute {
    const { record, snapshot, api } = this.#options
    record.stream = stream
    record.asked = model
    record.unread = undefined
    const caller = this.#principal
    if (!caller.mayUse(model)) throw modelForbidden(model, { snapshot, caller })
    const route = snapshot.resolve(model, capabilityOf[api], caller)
    record.model = route
    return route.cases ? this.#choose(route, request) : route
  }

  #choose(named: SwitchRoute, request: SwitchedRequest): ModelRoute {
    const { record, api, ports } = this.#options
    const { metadata, stream } = record
    const at = ports.clock.now()
    const principal = this.#principal
    const facts = new RequestFacts({ api, stream, principal, metadata, at, request })
    const { route, steps } = chooseRoute(named, facts)
    record.switched = steps
    const capability = capabilityOf[api]
    if (route.capabilities.includes(capability)) return route
    const message = `model ${named.id} serves this request by ${route.id}, which does not have the capability ${capability}`
    throw new GatewayError('LM-2002', message, { param: 'model' })
  }

  /**
   * Does the long parts of the admission of a heavy request in steps: what its prices depend on, and its estimate
   * where the limits of the sender, missing prices or the order of the route need one.
   */
  async prepareAdmission(prepared: EstimatedRequest, slice: TimeSlice): Promise<void> {
    const { route, bytes } = prepared
    const steps = readPriceAskInSteps(route, bytes, this.#askOptions(this.#refusesUnpriced))
    this.#options.record.ask = await runInSteps(steps, () => slice.pause())
    this.#isAskRead = true
    const isEstimated =
      route.balance?.strategy === 'cheapest' ||
      this.#refusesUnpriced ||
      this.#principal.needsEstimate
    if (isEstimated) await prepared.prepareEstimate()
  }

  /**
   * Admits the request, or throws LM-4007, LM-4002, LM-4003, LM-4006, LM-4001 or LM-5003. Comes before everything
   * that costs.
   */
  admit(
    prepared: EstimatedRequest & SessionRequest & SizedRequest,
  ): AdmittedRequest | Promise<AdmittedRequest> {
    const { record, snapshot, api, origin } = this.#options
    const { reserveOutputTokens } = snapshot
    if (!this.#isAskRead) record.ask = this.#readAsk(prepared)
    const estimate = () => this.#estimate(prepared, record.ask)
    record.account = this.#principal.account
    const route = this.#refusesUnpriced
      ? leaveOut(prepared.route, this.#findUnpriced(prepared, record.ask))
      : prepared.route
    const admitting = this.#principal.admit({
      id: origin.id,
      api,
      stream: record.stream,
      named: record.model,
      route,
      estimate,
    })
    if (admitting instanceof Promise) record.places.holdEarly(this.#takeEarly(route))
    const session = this.openSession(prepared)
    // The calls of one turn of the event loop travel together, so the pin costs no wait of its own.
    const reading = admitting instanceof Promise ? session?.read() : undefined
    return this.#enter(reading ? joinAdmission(admitting, reading) : admitting, (admission) => {
      const costs = estimateCosts(route, { estimate, reserveOutputTokens })
      return new AdmittedRequest({
        context: this.#context,
        route,
        admission,
        record,
        costs,
        session,
        // A function in its place would hold the body as long as the answer lasts.
        contextTokens: measureContext(prepared),
      })
    })
  }

  /** Asks for a place at the first link in the turn in which the admission is asked for, so that both travel together. */
  #takeEarly({ balance, chain: [first] }: ModelRoute): Promise<Place | undefined> | undefined {
    if (balance || !first.room) return undefined
    const taking = this.#context.rooms.take(first)
    return taking instanceof Promise ? taking : Promise.resolve(taking)
  }

  /** Opens the session of a request; undefined where it makes no difference. */
  openSession(prepared: SessionRequest): PinnedSession | undefined {
    const { route } = prepared
    const named = route.affinity && prepared.nameSession(route.affinity)
    if (!named) return undefined
    const { account } = this.#principal
    return this.#options.ports.affinity.open({
      route,
      account: account?.groupId ?? account?.keyId ?? '',
      named,
    })
  }

  /** Estimates a request with what its prices depend on. */
  estimate(prepared: EstimatedRequest): UsageEstimate {
    return this.#estimate(prepared, this.#readAsk(prepared))
  }

  #estimate(prepared: EstimatedRequest, ask: PriceAsk | undefined): UsageEstimate {
    const estimate = prepared.estimate()
    return ask ? { ...estimate, ask } : estimate
  }

  #readAsk(
    { route, bytes }: EstimatedRequest,
    isUnpricedAsked = this.#refusesUnpriced,
  ): PriceAsk | undefined {
    return readPriceAsk(route, bytes, this.#askOptions(isUnpricedAsked))
  }

  #askOptions(isUnpricedAsked: boolean): AskOptions {
    const { ports, api } = this.#options
    const needsAll = isUnpricedAsked && capabilityOf[api] === 'chat'
    return { api, at: ports.clock.now(), needsAll }
  }

  /** Requests of the sender are refused where their cost is not known. */
  get #refusesUnpriced(): boolean {
    const { unpriced } = this.#options.snapshot
    switch (unpriced) {
      case 'allow':
        return false
      case 'refuse_capped':
        return this.#principal.hasCap
      case 'refuse':
        return this.#principal.account !== undefined
      default:
        return unpriced satisfies never
    }
  }

  #findUnpriced(prepared: EstimatedRequest, ask: PriceAsk | undefined): UnpricedLinks {
    return findUnpriced(this.#toPriced(prepared, ask))
  }

  #toPriced(prepared: EstimatedRequest, ask: PriceAsk | undefined): PricedRequest {
    const { route } = prepared
    const capability = capabilityOf[this.#options.api]
    const listDropped = (link: Model) => prepared.listDropped?.(link) ?? []
    return { route, capability, ask, listDropped }
  }

  /** Finds what the links lack on which the cost of the request is not known, also where that refuses nothing. */
  findMissingPrices(prepared: EstimatedRequest): ReadonlyMap<Model, MissingPrice> {
    return findUnpricedLinks(this.#toPriced(prepared, this.#readAsk(prepared, true)))
  }

  /** Finds the links on which the cost of the request is not known, where that matters for the sender. */
  previewUnpriced(prepared: EstimatedRequest, { ask }: UsageEstimate): UnpricedLinks {
    return this.#refusesUnpriced ? this.#findUnpriced(prepared, ask) : noUnpriced
  }

  /** Throws what `admit` would throw now, and changes nothing. */
  previewAdmission(route: ModelRoute, estimate: () => UsageEstimate): void | Promise<void> {
    return this.#principal.previewAdmission({ route, estimate })
  }

  /** Returns the links in the order in which the next request to the route tries them. */
  previewOrder(
    route: ModelRoute,
    { estimate, session }: { estimate: () => UsageEstimate; session: PinnedSession | undefined },
  ): readonly Model[] {
    const { record, snapshot, resilience, ports, draws } = this.#options
    const { reserveOutputTokens } = snapshot
    return orderRoute(route, {
      session,
      resilience,
      traffic: ports.traffic,
      random: draws.lookAhead(),
      isStream: record.stream,
      costs: estimateCosts(route, { estimate, reserveOutputTokens }),
    })
  }

  /** Notes how the cache serves the request. */
  useCache(use: CacheUse): undefined {
    const { record, ports } = this.#options
    ports.events.cacheUsed(use.result)
    record.cache = use
  }

  /** Admits a request that the cache answers, which costs nothing, or throws LM-4002. */
  admitHit(route: ModelRoute): AdmittedRequest | Promise<AdmittedRequest> {
    const { record } = this.#options
    record.account = this.#principal.account
    return this.#enter(
      this.#principal.admitHit(),
      (admission) => new AdmittedRequest({ context: this.#context, route, admission, record }),
    )
  }

  /** Records the admission. It waits only where the admission does: in memory it is made at once. */
  #enter(
    admitting: Admission | Promise<Admission>,
    toRequest: (admission: Admission) => AdmittedRequest,
  ): AdmittedRequest | Promise<AdmittedRequest> {
    const enter = (admission: Admission): AdmittedRequest => {
      this.#options.record.admission = admission
      return toRequest(admission)
    }
    return admitting instanceof Promise ? admitting.then(enter) : enter(admitting)
  }

  /** Waits behind other bodies, until the total timeout at most. */
  #wait(turn: Promise<void>): Promise<void> {
    const { scope, snapshot, record, ports } = this.#options
    const left = record.arrived + snapshot.totalTimeout - ports.clock.elapsed()
    const stop = scope.endAfter(left, { kind: 'timeout', limit: 'total' })
    return scope.race(turn).finally(stop)
  }
}

/** A request as far as its session is known from it. */
export interface SessionRequest {
  readonly route: ModelRoute
  /** Finds the session; called only where it makes a difference. */
  nameSession(affinity: RouteAffinity): NamedSession | undefined
}

async function joinAdmission(
  admitting: Admission | Promise<Admission>,
  reading: Promise<void>,
): Promise<Admission> {
  const [admission] = await Promise.all([admitting, reading])
  return admission
}

interface NamedModel {
  readonly model: string
  readonly stream?: boolean
}
