import type { UsageEstimate } from '../../core/admission.ts'
import type { DialectRequest } from '../../core/endpoints.ts'
import type { BufferedBody } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { listNamed, type ModelRoute } from '../../core/route.ts'
import { runChain } from '../../resilience/index.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { KeptAnswer } from '../cache/use.ts'
import { checkImages, checkReferences } from '../images/check-images.ts'
import type { AuthenticatedRequest, RequestContext } from '../request/context.ts'
import { checkExpressible, explainSkip } from '../serve/expressible.ts'
import type { PreparedRequest, Service } from '../serve/service.ts'
import { type ChatResponse, callChat } from './call.ts'
import type { ChatDoor, DoorCall } from './door.ts'
import { estimateChatUsage } from './estimate.ts'
import { replyWithJson, replyWithLongJson, replyWithStream } from './reply.ts'

/** Creates the service of one API for chat, streamed and not. */
export function createChatService(door: ChatDoor): Service {
  const read = async (received: ReceivedChat, context: RequestContext): Promise<PreparedChat> => {
    const { authenticated, request, bytes, slice } = received
    const { clock, isUtf8 } = context
    const call = await door.read({ bytes, request, slice, clock, isUtf8 }) // LM-1001
    const route = authenticated.resolve(call) // LM-2001, LM-4005, LM-2002
    for (const link of listNamed(route)) {
      const parsing = call.parseFor?.(link, slice)
      if (parsing) await parsing
    }
    return new PreparedChat({ door, authenticated, request, bytes, slice, call, route })
  }
  return {
    api: door.api,
    prepare: async (request, context) => read(await receive(request, context), context),
    async serve(request, context) {
      const received = await receive(request, context) // LM-4004, LM-1002
      const { authenticated, bytes } = received
      const repeated = authenticated.mayRepeat && (await authenticated.answerRepeat(request, bytes))
      if (repeated) return repeated // LM-4005, LM-4002
      const prepared = await read(received, context) // LM-1001, LM-2001, LM-4005, LM-2002
      const { route, call, slice } = prepared
      if (call.isHeavy) await slice.pause()
      prepared.check() // LM-2003, LM-2004, LM-2008, LM-1001
      if (call.isHeavy) await slice.pause()
      const cached = route.cache && (await authenticated.answerFromCache(route, prepared))
      if (cached) return cached // LM-4002
      const admitting = authenticated.admit(route, () => prepared.estimate()) // LM-4002, LM-4003, LM-4006, LM-4001, LM-5003
      const admitted = admitting instanceof Promise ? await admitting : admitting
      if (call.isHeavy) await slice.pause()

      const serving = runChain<ChatResponse>(admitted, {
        explainSkip: (link) => explainSkip(link, prepared, { context, admitted }),
        call: (attempt) => callChat(call, attempt, context),
      }) // LM-3xxx, LM-6001
      // By now the first link has translated the request.
      context.releaseParser()
      const served = await serving
      switch (served.value.kind) {
        case 'answer':
          return served.value.isLong
            ? replyWithLongJson(served.value.answer, served, { call, context, admitted, slice })
            : replyWithJson(served.value.answer, served, { call, context, admitted })
        case 'stream':
          return replyWithStream(served.value.stream, served, { call, context, admitted })
        default:
          return served.value satisfies never
      }
    },
  }
}

/** A request for chat whose body has arrived. */
type ReceivedChat = Pick<PreparedChat, 'authenticated' | 'request' | 'bytes' | 'slice'>

async function receive(request: Request, context: RequestContext): Promise<ReceivedChat> {
  const slice = context.startTimeSlice()
  const authenticated = context.authenticate(request) // LM-4004
  return { authenticated, request, bytes: await authenticated.readBody(request), slice } // LM-1002
}

type ChatParts = Pick<
  PreparedChat,
  'authenticated' | 'request' | 'bytes' | 'slice' | 'call' | 'route'
> & { readonly door: ChatDoor }

/** A request for chat whose route is known. */
class PreparedChat implements PreparedRequest {
  readonly authenticated: AuthenticatedRequest
  readonly request: Request
  readonly bytes: Uint8Array
  readonly slice: TimeSlice
  readonly call: DoorCall
  readonly route: ModelRoute
  readonly #door: ChatDoor

  constructor({ door, authenticated, request, bytes, slice, call, route }: ChatParts) {
    this.#door = door
    this.authenticated = authenticated
    this.request = request
    this.bytes = bytes
    this.slice = slice
    this.call = call
    this.route = route
  }

  check(): void {
    checkImages(this.call.images, this.route, (link) => this.#isNative(link))
    checkExpressible(this.route, this)
  }

  listDropped(link: Model): readonly string[] {
    if (!this.#isNative(link)) checkReferences(this.call.images, link)
    return this.call.bind(link).listUnsupported()
  }

  estimate(): UsageEstimate {
    return estimateChatUsage(this.call)
  }

  buildRequest(link: Model): DialectRequest {
    return this.call.bind(link).buildRequest()
  }

  convertAnswer(kept: KeptAnswer): BufferedBody | Promise<BufferedBody> {
    return this.call.convertAnswer?.(kept, this.slice) ?? kept.body
  }

  #isNative(link: Model): boolean {
    return this.#door.api in link.native
  }
}
