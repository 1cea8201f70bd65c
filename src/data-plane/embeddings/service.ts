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
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import { type ArrivedRequest, PreparedRequest } from '../serve/prepared-request.ts'
import { createService, type Service } from '../serve/service.ts'
import { renderEmbeddings } from './answer.ts'
import { splitBatches } from './batches.ts'
import { areComparable, callEmbed, type EmbeddedBatch } from './call.ts'
import { checkInput } from './checks.ts'
import { fetchImages, measureMedia, planFetch } from './images.ts'
import { readEmbed } from './input.ts'
import { bindInputType } from './input-type.ts'
import { matchEmbed, passesAsWritten } from './match.ts'

/** `POST /v1/embeddings`. */
export const embeddings: Service = createService<PreparedEmbed>({
  api: 'embeddings',
  async read(arrived, context) {
    const { authenticated, bytes, slice } = arrived
    const matched = matchEmbed(bytes, context.isUtf8)
    const read = matched ?? (await readEmbed(bytes, slice)) // LM-1001
    const route = authenticated.resolve(read) // LM-2001, LM-4005, LM-2002
    const needsTexts = matched !== undefined && !passesAsWritten(matched, route)
    const sent = needsTexts ? await readEmbed(bytes, slice) : read
    context.releaseParser()
    return new PreparedEmbed(arrived, { context, sent, route })
  },
  async run(prepared, { context, admitted }) {
    const call = await fetchImages(prepared.sent, context) // LM-2005, LM-2006, LM-2007
    admitted.addMedia(measureMedia(call))
    await prepared.slice.pause()

    const served = await runSplitChain<EmbedCall, EmbeddedBatch>(admitted, {
      explainSkip: (link) => explainSkip(link, prepared, { context, admitted }),
      split: (link) => splitBatches(bindInputType(call, link), link),
      call: (batch, attempt) => callEmbed(batch, attempt, context),
    }) // LM-3xxx, LM-6001
    return reply(served, { call, context, admitted })
  },
})

interface ReadEmbed {
  readonly context: RequestContext
  readonly sent: EmbedCall
  readonly route: ModelRoute
}

/** A request for embeddings whose route is known. */
class PreparedEmbed extends PreparedRequest {
  /** The request before its images are fetched. */
  readonly sent: EmbedCall
  readonly #context: RequestContext

  constructor(arrived: ArrivedRequest, { context, sent, route }: ReadEmbed) {
    super(arrived, route)
    this.sent = sent
    this.#context = context
  }

  override check(): void {
    checkInput(this.sent, this.route)
    checkExpressible(this.route, this)
  }

  override listDropped(link: Model): readonly string[] {
    const isDropped = this.sent.dimensions !== undefined && !getEndpoint(link).supportsDimensions
    return isDropped ? ['dimensions'] : []
  }

  override estimate(): UsageEstimate {
    return { promptTokens: estimateEmbedTokens(this.sent.input) }
  }

  override findFetchError(): GatewayError | undefined {
    const plan = planFetch(this.sent, this.#context)
    return plan.kind === 'refused' ? plan.error : undefined
  }

  override buildRequest(link: Model): DialectRequest | undefined {
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
