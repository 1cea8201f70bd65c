import type { UsageEstimate } from '../../core/admission.ts'
import type { NamedSession, RouteAffinity } from '../../core/affinity.ts'
import type { OutputEstimate } from '../../core/chat.ts'
import type { DecisionForm } from '../../core/decisions.ts'
import type { DecisionAnswer, DecisionEndpoint, DialectRequest } from '../../core/endpoints.ts'
import type { Model } from '../../core/provider.ts'
import { jsonBytes, type Reply } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { runChain, type Served } from '../../resilience/index.ts'
import { checkModality } from '../images/check-images.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import { type ArrivedRequest, PreparedRequest } from '../serve/prepared-request.ts'
import { type Admitted, createService, type Service } from '../serve/service.ts'
import { nameSession } from '../serve/session.ts'
import { callDecisions, countDecisions } from './call.ts'
import { type ReadDecisions, readDecisions } from './input.ts'

/** `POST /v1/decisions`: questions in both forms, which the body shows. */
export const decisions: Service = createDecisionService(['openai', 'typesafe'])

/** `POST /v1/systemone`: the path of TypeSafe's clients, and their form alone. */
export const systemOne: Service = createDecisionService(['typesafe'])

function createDecisionService(accepted: readonly DecisionForm[]): Service {
  return createService<PreparedDecisions>({
    api: 'decisions',
    async read(arrived, context) {
      const call = await readDecisions(arrived, accepted) // LM-1001
      context.releaseParser()
      const { authenticated, bytes } = arrived
      const countInput = () => call.promptTokens
      const hasImages = call.images.length > 0
      const route = authenticated.resolve(call, { bytes, hasImages, countInput }) // LM-2001, LM-4005, LM-2002
      return new PreparedDecisions(arrived, { call, route })
    },
    async run(prepared, { context, admitted }) {
      const { call } = prepared
      const served = await runChain<DecisionAnswer>(admitted, {
        explainSkip: (link) => explainSkip(link, prepared, { context, admitted }),
        call(attempt) {
          admitted.markSent(attempt)
          return callDecisions(call, attempt, context)
        },
      }) // LM-3xxx, LM-6001
      return reply(served, call, admitted)
    },
  })
}

interface RoutedDecisions {
  readonly call: ReadDecisions
  readonly route: ModelRoute
}

/** A request for decisions whose route is known. */
class PreparedDecisions extends PreparedRequest {
  readonly call: ReadDecisions

  constructor(arrived: ArrivedRequest, { call, route }: RoutedDecisions) {
    super(arrived, route)
    this.call = call
  }

  override check(): void | Promise<void> {
    const [image] = this.call.images
    if (image) checkModality(image, this.route)
    return checkExpressible(this.route, this)
  }

  /** The bytes of the client pass, so nothing is dropped. */
  override listDropped(link: Model): readonly string[] {
    const { form } = getEndpoint(link)
    if (form !== this.call.form) throw takesOtherForm(link, form)
    return []
  }

  override estimate(): UsageEstimate {
    const { promptTokens, cacheLife } = this.call
    return { promptTokens, cacheLife, output: estimateOutput }
  }

  override measureContext(): number {
    return this.call.promptTokens
  }

  override nameSession(affinity: RouteAffinity): NamedSession | undefined {
    return nameSession(this.request.headers, { call: this.call, affinity })
  }

  override buildRequest(link: Model): DialectRequest {
    return getEndpoint(link).buildRequest(this.call)
  }
}

/** Output matters only where it has a price, and then nothing in the request bounds it. */
function estimateOutput(): OutputEstimate {
  return { maxTokens: 0, isBounded: false, choices: 1 }
}

function takesOtherForm({ id, provider }: Model, form: DecisionForm): UntranslatableError {
  const [taken, sent] = form === 'openai' ? ['input', 'state'] : ['state', 'input']
  return new UntranslatableError(
    `model ${id} of provider ${provider.name} takes decisions with ${taken}, and the request has ${sent}`,
    sent,
  )
}

/** A route for decisions has only links with an endpoint for them. */
function getEndpoint(link: Model): DecisionEndpoint {
  return link.decisions as DecisionEndpoint
}

function reply(
  { value: answer, link, scope }: Served<DecisionAnswer>,
  call: ReadDecisions,
  admitted: Admitted['admitted'],
): Reply {
  scope.close()
  const { body, refusals } = answer
  const usage = countDecisions(call, answer.usage)
  admitted.keepWhole({ body, link, usage })
  const cost = admitted.finish({ status: 200, served: link, usage, refusals })
  return jsonBytes(body, { headers: admitted.headersFor(link, cost) })
}
