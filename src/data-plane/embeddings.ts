import type { EmbedCall } from '../core/embeddings.ts'
import { errorOf } from '../core/failure.ts'
import type { EmbedEndpoint, Model } from '../core/provider.ts'
import { jsonHeaders, type Reply } from '../core/reply.ts'
import { createPromptUsage, type Usage } from '../core/usage.ts'
import { runSplitChain, type Served } from '../resilience/index.ts'
import { countableEmbed } from '../tokens/index.ts'
import { areComparable, callEmbed, type EmbeddedBatch } from './call-embed.ts'
import { renderEmbeddings } from './embed-answer.ts'
import { batchesOf } from './embed-batches.ts'
import { checkInput } from './embed-checks.ts'
import { mediaOf, withFetchedImages } from './embed-images.ts'
import { readEmbed } from './embed-input.ts'
import type { Exchange } from './exchange.ts'
import { checkExpressible, whyUnable } from './expressible.ts'
import { estimateEmbedUsage } from './usage-estimate.ts'

/** `POST /v1/embeddings`. */
export async function embeddings(request: Request, exchange: Exchange): Promise<Reply> {
  const { snapshot, pace } = exchange
  const sent = await readEmbed(await exchange.body(request), pace)
  exchange.parsed()
  const route = snapshot.resolve(sent.model, 'embed')
  exchange.routed(route)
  checkInput(sent, route)
  const droppedBy = (link: Model) => unsupported(sent, link)
  checkExpressible(route, droppedBy)
  exchange.admit(route, () => estimateEmbedUsage(sent))
  const call = await withFetchedImages(sent, exchange)
  exchange.media = mediaOf(call)
  await pace.pause()

  const setting = exchange.chainOf(route, (link) => whyUnable(link, droppedBy, exchange))
  const served = await runSplitChain<EmbedCall, EmbeddedBatch>(setting, {
    split: (link) => batchesOf(call, dialectOf(link)),
    attempt: async (batch, context) => {
      const result = await callEmbed(batch, context, exchange)
      exchange.attempted(context.link, result)
      return result
    },
  })
  return answer(call, served, exchange)
}

function answer(
  call: EmbedCall,
  { value: batches, link, scope }: Served<readonly EmbeddedBatch[]>,
  exchange: Exchange,
): Reply {
  scope.close()
  const vectors = batches.flatMap((batch) => batch.vectors)
  if (!areComparable(vectors)) {
    throw errorOf({ kind: 'malformed', detail: 'its vectors differ in length' }, link.provider.name)
  }
  const usage = usageOf(batches)
  const { length, body } = renderEmbeddings(
    { vectors, encoding: call.encoding, model: link.id, usage },
    exchange,
  )
  const encoding = usage.estimated ? exchange.encodingOf(link) : undefined
  const countable = encoding && countableEmbed(encoding, call.input)
  exchange.settle({ status: 200, served: link, usage, countable })
  const headers = [...jsonHeaders(length), ...exchange.headersOf(link)]
  return { status: 200, headers, body }
}

function usageOf(batches: readonly EmbeddedBatch[]): Usage {
  const tokens = batches.reduce((sum, batch) => sum + batch.tokens, 0)
  return createPromptUsage(
    tokens,
    batches.some((batch) => batch.estimated),
  )
}

/** The chain was chosen for its embed capability, so every link has the dialect. */
function dialectOf(link: Model): EmbedEndpoint {
  return link.embed as EmbedEndpoint
}

function unsupported(call: EmbedCall, link: Model): readonly string[] {
  return call.dimensions !== undefined && !dialectOf(link).supportsDimensions ? ['dimensions'] : []
}
