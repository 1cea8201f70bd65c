import type { UsageEstimate } from '../../core/admission.ts'
import type { EmbedCall } from '../../core/embeddings.ts'
import type { DialectRequest } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import { toClientError } from '../../core/failure.ts'
import { asHeaderList, isBuffered } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { jsonHeaders, type Reply } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import { createPromptUsage, type Usage } from '../../core/usage.ts'
import { type CallBill, runSplitChain, type Served } from '../../resilience/index.ts'
import { toEmbedCountInput } from '../../tokens/index.ts'
import type { NumberArray } from '../../wire/json/number-reader.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import { type ArrivedRequest, PreparedRequest } from '../serve/prepared-request.ts'
import { createService, type Service } from '../serve/service.ts'
import { type RenderedBody, renderEmbeddings } from './answer.ts'
import { type Batch, splitBatches } from './batches.ts'
import { areComparable, callEmbed, callNative, type EmbeddedBatch, estimateTokens } from './call.ts'
import { checkInput } from './checks.ts'
import { type EmbedDoor, type EmbedDoorCall, findNative, getEndpoint } from './door.ts'
import { fetchImages, measureMedia, planFetch } from './images.ts'
import { bindInputType } from './input-type.ts'

/** Creates the service of one API for embeddings. Its steps are in the order of `createService`. */
export function createEmbedService(door: EmbedDoor): Service {
  return createService<PreparedEmbed>({
    api: 'embeddings',
    async read(arrived, context) {
      const { authenticated, request, bytes, slice } = arrived
      const { clock, isUtf8 } = context
      const read = await door.read({ bytes, request, slice, clock, isUtf8 }) // LM-1001
      const countInput = () => estimateTokens(read.sets)
      const route = authenticated.resolve(read, { bytes, countInput }) // LM-2001, LM-4005, LM-2002
      const again = read.readAgain?.(route)
      const call = again ? await again : read
      context.releaseParser()
      return new PreparedEmbed(arrived, { context, call, route })
    },
    async run(prepared, { context, admitted }) {
      const { call, slice } = prepared
      const sets = await fetchImages(call.sets, context) // LM-2005, LM-2006, LM-2007
      admitted.addMedia(measureMedia(sets))
      await slice.pause()

      const served = await runSplitChain<Part, EmbeddedBatch>(admitted, {
        explainSkip: (link) => explainSkip(link, prepared, { context, admitted }),
        split: (link) => (findNative(call, link) ? ['native'] : splitSets(sets, link)),
        call: (part, attempt) =>
          part === 'native'
            ? callNative(call, attempt, context)
            : callEmbed(part, attempt, context),
        bill: toBill,
      }) // LM-3xxx, LM-6001
      return reply(served, { call, sets, context, admitted })
    },
  })
}

/** What one upstream call has of a request: all of it as the client sent it, or the items of one batch. */
type Part = 'native' | Batch

function splitSets(sets: readonly EmbedCall[], link: Model): readonly Batch[] {
  return sets.flatMap((set, index) =>
    splitBatches(bindInputType(set, link), link).map((call) => ({ call, set: index })),
  )
}

interface ReadEmbed {
  readonly context: RequestContext
  readonly call: EmbedDoorCall
  readonly route: ModelRoute
}

/** A request for embeddings whose route is known. */
class PreparedEmbed extends PreparedRequest {
  /** The request before its images are fetched. */
  readonly call: EmbedDoorCall
  readonly #context: RequestContext

  constructor(arrived: ArrivedRequest, { context, call, route }: ReadEmbed) {
    super(arrived, route)
    this.call = call
    this.#context = context
  }

  override check(): void | Promise<void> {
    checkInput(this.call, this.route)
    return checkExpressible(this.route, this)
  }

  override listDropped(link: Model): readonly string[] {
    return findNative(this.call, link) ? [] : this.call.listDropped(link)
  }

  override estimate(): UsageEstimate {
    return { promptTokens: estimateTokens(this.call.sets) }
  }

  override findFetchError(): GatewayError | undefined {
    const plan = planFetch(this.call.sets, this.#context)
    return plan.kind === 'refused' ? plan.error : undefined
  }

  override buildRequest(link: Model): DialectRequest | undefined {
    const { native } = this.call
    const endpoint = native && findNative(this.call, link)
    if (endpoint) return endpoint.buildRequest(native)
    if (planFetch(this.call.sets, this.#context).kind !== 'nothing') return undefined
    // A request has at least one set, and a set at least one item.
    const [set] = this.call.sets as [EmbedCall]
    const [first] = splitBatches(bindInputType(set, link), link) as [EmbedCall]
    return getEndpoint(link).buildRequest(first)
  }
}

interface ServedCall {
  readonly call: EmbedDoorCall
  readonly sets: readonly EmbedCall[]
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

function reply(
  { value: batches, link, scope }: Served<readonly EmbeddedBatch[]>,
  { call, sets, context, admitted }: ServedCall,
): Reply {
  scope.close()
  const usage = sumUsage(batches)
  const { length, body } = render(batches, { call, link, usage, context, admitted })
  if (isBuffered(body)) admitted.keepWhole({ body, link, usage })
  const encoding = context.findEncoding(link)
  const inputs = sets.map(({ input }) => input)
  const toCountInput = encoding && (() => toEmbedCountInput(encoding, inputs))
  const cost = admitted.finish({ status: 200, served: link, usage, toCountInput })
  const headers = asHeaderList([...jsonHeaders(length), ...admitted.headersFor(link, cost)])
  return { status: 200, headers, body }
}

interface Answered extends Omit<ServedCall, 'sets'> {
  readonly link: Model
  readonly usage: Usage
}

/** Renders the vectors in the order of the request, or returns the bytes of the upstream. */
function render(
  batches: readonly EmbeddedBatch[],
  { call: { sets, places, writing }, link, usage, context, admitted }: Answered,
): RenderedBody {
  const [only] = batches
  if (only?.body) return { length: only.body.length, body: only.body }
  const vectorsOf = (at: number) =>
    batches.flatMap(({ set, vectors }) => (set === at ? vectors : []))
  const found = sets.map((_, at) => vectorsOf(at))
  if (!found.every(areComparable)) {
    admitted.onUnused(link, batches.map(toBill))
    throw toClientError(
      { kind: 'malformed', detail: 'its vectors differ in length' },
      link.provider.name,
    )
  }
  const vectors = sortByPlace(found.flat(), places)
  const { maxKeptBytes: wholeBytes } = admitted
  return renderEmbeddings({ vectors, writing, model: link.id, usage, wholeBytes }, context)
}

function sortByPlace(
  vectors: readonly NumberArray[],
  places: readonly number[] | undefined,
): readonly NumberArray[] {
  if (!places) return vectors
  const sorted: NumberArray[] = []
  for (const [index, vector] of vectors.entries()) sorted[places[index] ?? index] = vector
  return sorted
}

function toBill({ tokens, estimated }: EmbeddedBatch): CallBill {
  return { usage: createPromptUsage(tokens, estimated), searchUnits: undefined }
}

function sumUsage(batches: readonly EmbeddedBatch[]): Usage {
  const tokens = batches.reduce((sum, batch) => sum + batch.tokens, 0)
  return createPromptUsage(
    tokens,
    batches.some((batch) => batch.estimated),
  )
}
