import type { EmbedCall } from '../core/embeddings.ts'
import type { EmbedEndpoint } from '../core/endpoints.ts'
import { toClientError } from '../core/failure.ts'
import { asHeaderList, isBuffered } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { jsonHeaders, type Reply } from '../core/reply.ts'
import { createPromptUsage, type Usage } from '../core/usage.ts'
import { runSplitChain, type Served } from '../resilience/index.ts'
import { toEmbedCountInput } from '../tokens/index.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { areComparable, callEmbed, type EmbeddedBatch } from './call-embed.ts'
import { renderEmbeddings } from './embed-answer.ts'
import { splitBatches } from './embed-batches.ts'
import { checkInput } from './embed-checks.ts'
import { fetchImages, measureMedia } from './embed-images.ts'
import { readEmbed } from './embed-input.ts'
import { checkExpressible, explainSkip } from './expressible.ts'
import type { RequestContext } from './request-context.ts'
import { estimateEmbedUsage } from './usage-estimate.ts'

/** `POST /v1/embeddings`. */
export async function embeddings(request: Request, context: RequestContext): Promise<Reply> {
  const slice = context.startTimeSlice()
  const authenticated = context.authenticate(request) // LM-4004
  const bytes = await authenticated.readBody(request) // LM-1002
  const sent = await readEmbed(bytes, slice) // LM-1001
  context.releaseParser()
  const route = authenticated.resolve(sent) // LM-2001, LM-4005, LM-2002
  checkInput(sent, route) // LM-1001, LM-2003, LM-2008
  const listDropped = (link: Model) => listUnsupported(sent, link)
  checkExpressible(route, listDropped) // LM-1001
  const cached =
    route.cache && (await authenticated.answerFromCache(route, { request, bytes, slice }))
  if (cached) return cached // LM-4002
  const admitted = authenticated.admit(route, () => estimateEmbedUsage(sent)) // LM-4002, LM-4003, LM-4006, LM-4001
  const call = await fetchImages(sent, context) // LM-2005, LM-2006, LM-2007
  admitted.addMedia(measureMedia(call))
  await slice.pause()

  const served = await runSplitChain<EmbedCall, EmbeddedBatch>(admitted, {
    explainSkip: (link) => explainSkip(link, listDropped, { context, admitted }),
    split: (link) => splitBatches(call, getEndpoint(link)),
    call: (batch, attempt) => callEmbed(batch, attempt, context),
  }) // LM-3xxx, LM-6001
  return reply(served, { call, context, admitted })
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

function listUnsupported(call: EmbedCall, link: Model): readonly string[] {
  return call.dimensions !== undefined && !getEndpoint(link).supportsDimensions
    ? ['dimensions']
    : []
}
