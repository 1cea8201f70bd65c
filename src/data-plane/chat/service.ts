import type { UsageEstimate } from '../../core/admission.ts'
import type { NamedSession, RouteAffinity } from '../../core/affinity.ts'
import type { OutputEstimate } from '../../core/chat.ts'
import type { DialectRequest } from '../../core/endpoints.ts'
import { goesOnAfter } from '../../core/fallback.ts'
import type { BufferedBody } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { Reply } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import { runChain } from '../../resilience/index.ts'
import type { KeptAnswer } from '../cache/use.ts'
import { checkImages, checkReferences } from '../images/check-images.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import { type ArrivedRequest, PreparedRequest } from '../serve/prepared-request.ts'
import { type Admitted, createService, type Service } from '../serve/service.ts'
import { nameSession } from '../serve/session.ts'
import { type ChatResponse, callChat } from './call.ts'
import type { ChatDoor, DoorCall, EarlyWriter } from './door.ts'
import { replyInTime } from './early-reply.ts'
import { estimateChatUsage, estimateOutput } from './estimate.ts'
import { replyWithJson, replyWithLongJson, replyWithStream } from './reply.ts'

/** Creates the service of one API for chat, streamed and not. Its steps are in the order of `createService`. */
export function createChatService(door: ChatDoor): Service {
  return createService<PreparedChat>({
    api: door.api,
    async read(arrived, context) {
      const { authenticated, request, bytes, slice } = arrived
      const { clock, isUtf8 } = context
      const call = await door.read({ bytes, request, slice, clock, isUtf8 }) // LM-1001
      const countInput = () => call.promptTokens
      const route = authenticated.resolve(call, { bytes, countInput }) // LM-2001, LM-4005, LM-2002
      const preparing = call.prepareFor?.(route.chain[0], slice)
      if (preparing) await preparing
      return new PreparedChat(arrived, { door, call, route })
    },
    run(prepared, { context, admitted }) {
      const { call } = prepared
      const { earlyHeartbeat: after } = admitted.route
      if (after === undefined || !call.stream) return serve(prepared, { context, admitted })
      return replyInTime({
        call,
        context,
        admitted,
        after,
        serve: (early) => serve(prepared, { context, admitted, early }),
      })
    },
  })
}

interface Serving extends Admitted {
  /** Returns what has written to the client before a link sent content. Absent where nothing does. */
  readonly early?: () => EarlyWriter | undefined
}

async function serve(
  prepared: PreparedChat,
  { context, admitted, early }: Serving,
): Promise<Reply> {
  const { call, slice } = prepared
  const served = await runChain<ChatResponse>(admitted, {
    explainSkip(link) {
      const explain = () => explainSkip(link, prepared, { context, admitted })
      const preparing = prepared.prepareFor(link)
      return preparing ? preparing.then(explain) : explain()
    },
    call: (attempt) => {
      admitted.markSent(attempt)
      const failsFiltered = goesOnAfter(admitted.route, attempt.link, 'content_filter')
      return callChat(call, { attempt, failsFiltered }, context)
    },
  }) // LM-3xxx, LM-6001
  switch (served.value.kind) {
    case 'answer':
      return served.value.isLong
        ? replyWithLongJson(served.value.answer, served, { call, context, admitted, slice })
        : replyWithJson(served.value.answer, served, { call, context, admitted })
    case 'stream':
      return replyWithStream(served.value.stream, served, {
        call,
        context,
        admitted,
        early: early?.(),
      })
    default:
      return served.value satisfies never
  }
}

interface ReadChat {
  readonly door: ChatDoor
  readonly call: DoorCall
  readonly route: ModelRoute
}

/** A request for chat whose route is known. */
class PreparedChat extends PreparedRequest {
  readonly call: DoorCall
  readonly #door: ChatDoor
  /** What was found of the links in steps; undefined until then. */
  #prepared: ReadonlyMap<Model, PreparedLink> | undefined

  constructor(arrived: ArrivedRequest, { door, call, route }: ReadChat) {
    super(arrived, route)
    this.call = call
    this.#door = door
  }

  override get isHeavy(): boolean {
    return this.call.isHeavy
  }

  override get streamType(): string | undefined {
    return this.call.streamType
  }

  override check(): void | Promise<void> {
    checkImages(this.call.images, this.route, (link) => this.#isNative(link))
    return checkExpressible(this.route, this)
  }

  override prepareFor(link: Model): Promise<void> | undefined {
    return this.call.prepareFor?.(link, this.slice)
  }

  override listDropped(link: Model): readonly string[] {
    const prepared = this.#prepared?.get(link)
    if (prepared) return prepared.listDropped()
    if (!this.#isNative(link)) checkReferences(this.call.images, link)
    return this.call.bind(link).listUnsupported()
  }

  override estimate(): UsageEstimate {
    return estimateChatUsage(this.call, this.#prepared)
  }

  override prepareEstimate(): Promise<void> | undefined {
    return this.isHeavy && !this.#prepared ? this.#prepareLinks() : undefined
  }

  /** Of a heavy call only the translation for one link is kept, so all that is asked of a link is read at once. */
  async #prepareLinks(): Promise<void> {
    const prepared = new Map<Model, PreparedLink>()
    for (const link of this.route.chain) {
      await this.prepareFor(link)
      const listDropped = keepOutcome(() => this.listDropped(link))
      prepared.set(link, { listDropped, output: estimateOutput(link, this.call) })
      await this.slice.pause()
    }
    this.#prepared = prepared
  }

  override measureContext(): number {
    return this.call.promptTokens + this.call.askedTokens
  }

  override nameSession(affinity: RouteAffinity): NamedSession | undefined {
    return nameSession(this.request.headers, { call: this.call, affinity })
  }

  override buildRequest(link: Model): DialectRequest {
    return this.call.bind(link).buildRequest()
  }

  override convertAnswer(kept: KeptAnswer): BufferedBody | Promise<BufferedBody> {
    return this.call.convertAnswer?.(kept, this.slice) ?? kept.body
  }

  #isNative(link: Model): boolean {
    return this.#door.api in link.native
  }
}

/** What is known of a link before it is called. */
interface PreparedLink {
  readonly listDropped: () => readonly string[]
  readonly output: OutputEstimate
}

/** Calls a function, and returns another one that has the same outcome. */
function keepOutcome<Value>(read: () => Value): () => Value {
  try {
    const value = read()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}
