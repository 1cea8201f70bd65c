import type { UsageEstimate } from '../../core/admission.ts'
import type { EmbedCall } from '../../core/embeddings.ts'
import type { DialectRequest, EmbedEndpoint } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import { toClientError } from '../../core/failure.ts'
import { asHeaderList, isBuffered } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { jsonHeaders, type Reply } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import { createPromptUsage, type Usage } from '../../core/usage.ts'
import { runSplitChain, type Served } from '../../resilience/index.ts'
import { estimateEmbedTokens, toEmbedCountInput } from '../../tokens/index.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { AuthenticatedRequest, RequestContext } from '../request/context.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import type { PreparedRequest, Service } from '../serve/service.ts'
import { renderEmbeddings } from './answer.ts'
import { splitBatches } from './batches.ts'
import { areComparable, callEmbed, type EmbeddedBatch } from './call.ts'
import { checkInput } from './checks.ts'
import { fetchImages, measureMedia, planFetch } from './images.ts'
import { readEmbed } from './input.ts'
import { bindInputType } from './input-type.ts'
import { matchEmbed, passesAsWritten } from './match.ts'

/** `POST /v1/embeddings`. */
export const embeddings: Service = Object.freeze({
  api: 'embeddings',
  prepare,
  async serve(request, context) {
    const prepared = await prepare(request, context) // LM-4004, LM-1002, LM-1001, LM-2001, LM-4005, LM-2002
    const { authenticated, route, sent, slice } = prepared
    prepared.check() // LM-1001, LM-2003, LM-2008
    const cached = route.cache && (await authenticated.answerFromCache(route, prepared))
    if (cached) return cached // LM-4002
    const admitting = authenticated.admit(route, () => prepared.estimate()) // LM-4002, LM-4003, LM-4006, LM-4001, LM-5003
    const admitted = admitting instanceof Promise ? await admitting : admitting
    const call = await fetchImages(sent, context) // LM-2005, LM-2006, LM-2007
    admitted.addMedia(measureMedia(call))
    await slice.pause()

    const served = await runSplitChain<EmbedCall, EmbeddedBatch>(admitted, {
      explainSkip: (link) => explainSkip(link, prepared, { context, admitted }),
      split: (link) => splitBatches(bindInputType(call, link), link),
      call: (batch, attempt) => callEmbed(batch, attempt, context),
    }) // LM-3xxx, LM-6001
    return reply(served, { call, context, admitted })
  },
} satisfies Service)

async function prepare(request: Request, context: RequestContext): Promise<PreparedEmbed> {
  const slice = context.startTimeSlice()
  const authenticated = context.authenticate(request) // LM-4004
  const bytes = await authenticated.readBody(request) // LM-1002
  const matched = matchEmbed(bytes, context.isUtf8)
  const read = matched ?? (await readEmbed(bytes, slice)) // LM-1001
  const route = authenticated.resolve(read) // LM-2001, LM-4005, LM-2002
  const needsTexts = matched !== undefined && !passesAsWritten(matched, route)
  const sent = needsTexts ? await readEmbed(bytes, slice) : read
  context.releaseParser()
  return new PreparedEmbed({ context, authenticated, request, bytes, slice, sent, route })
}

type EmbedParts = Pick<
  PreparedEmbed,
  'authenticated' | 'request' | 'bytes' | 'slice' | 'sent' | 'route'
> & { readonly context: RequestContext }

/** A request for embeddings whose route is known. */
class PreparedEmbed implements PreparedRequest {
  readonly authenticated: AuthenticatedRequest
  readonly request: Request
  readonly bytes: Uint8Array
  readonly slice: TimeSlice
  /** The request before its images are fetched. */
  readonly sent: EmbedCall
  readonly route: ModelRoute
  readonly #context: RequestContext

  constructor({ context, authenticated, request, bytes, slice, sent, route }: EmbedParts) {
    this.#context = context
    this.authenticated = authenticated
    this.request = request
    this.bytes = bytes
    this.slice = slice
    this.sent = sent
    this.route = route
  }

  check(): void {
    checkInput(this.sent, this.route)
    checkExpressible(this.route, this)
  }

  listDropped(link: Model): readonly string[] {
    const isDropped = this.sent.dimensions !== undefined && !getEndpoint(link).supportsDimensions
    return isDropped ? ['dimensions'] : []
  }

  estimate(): UsageEstimate {
    return { promptTokens: estimateEmbedTokens(this.sent.input) }
  }

  findFetchError(): GatewayError | undefined {
    const plan = planFetch(this.sent, this.#context)
    return plan.kind === 'refused' ? plan.error : undefined
  }

  buildRequest(link: Model): DialectRequest | undefined {
    if (planFetch(this.sent, this.#context).kind !== 'nothing') return undefined
    // An input has at least one item, so it has a batch.
    const [first] = splitBatches(bindInputType(this.sent, link), link) as [EmbedCall]
    return getEndpoint(link).buildRequest(first)
  }
}

interface ServedCall {
  readonly call: EmbedCall
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

function reply(
  { value: batches, link, scope }: Served<readonly EmbeddedBatch[]>,
  { call, context, admitted }: ServedCall,
): Reply {
  scope.close()
  const vectors = batches.flatMap((batch) => batch.vectors)
  if (!areComparable(vectors)) {
    throw toClientError(
      { kind: 'malformed', detail: 'its vectors differ in length' },
      link.provider.name,
    )
  }
  const usage = sumUsage(batches)
  const { length, body } = renderEmbeddings(
    { vectors, encoding: call.encoding, model: link.id, usage, wholeBytes: admitted.maxKeptBytes },
    context,
  )
  if (isBuffered(body)) admitted.keepWhole({ body, link, usage })
  const encoding = context.findEncoding(link)
  const toCountInput = encoding && (() => toEmbedCountInput(encoding, call.input))
  const cost = admitted.finish({ status: 200, served: link, usage, toCountInput })
  const headers = asHeaderList([...jsonHeaders(length), ...admitted.headersFor(link, cost)])
  return { status: 200, headers, body }
}

function sumUsage(batches: readonly EmbeddedBatch[]): Usage {
  const tokens = batches.reduce((sum, batch) => sum + batch.tokens, 0)
  return createPromptUsage(
    tokens,
    batches.some((batch) => batch.estimated),
  )
}

/** A route for embeddings has only links with an embed endpoint. */
function getEndpoint(link: Model): EmbedEndpoint {
  return link.embed as EmbedEndpoint
}
