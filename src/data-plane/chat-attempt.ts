import { failureOf, UpstreamFault } from '../core/failure.ts'
import type { Frame, FrameDecoder } from '../core/frame.ts'
import type { ByteSource, UpstreamResponse } from '../core/ports.ts'
import type { ChatAnswer, ChatEndpoint } from '../core/provider.ts'
import type { Attempt, AttemptContext } from '../resilience/index.ts'
import { CommitGate } from '../stream/commit-gate.ts'
import type { Share } from '../wire/buffers.ts'
import type { Scope } from '../wire/deadline.ts'
import { attempt, type CallSetting, failed, wholeBody } from './attempt.ts'
import type { ParsedChat } from './chat-input.ts'

/** A stream that has shown its first content, with everything it takes to go on. */
export interface LiveStream {
  readonly source: ByteSource
  readonly decoder: FrameDecoder
  /** The frames up to and including the first content. */
  readonly frames: Frame[]
}

export type ChatReply =
  | { readonly kind: 'answer'; readonly answer: ChatAnswer }
  | { readonly kind: 'stream'; readonly live: LiveStream }

/** One upstream call: up to the whole answer, or up to the first content of a stream. */
export function attemptChat(
  call: ParsedChat,
  { link, scope, mayResend }: AttemptContext,
  { clock, share }: CallSetting,
): Promise<Attempt<ChatReply>> {
  // The route was chosen for its chat capability, so there is an endpoint.
  const endpoint = link.chat as ChatEndpoint
  return attempt<ChatReply>({
    link,
    scope,
    mayResend,
    clock,
    share,
    streamed: call.stream,
    request() {
      const request = endpoint.request(call)
      call.forget()
      return request
    },
    refusal: (status, body, header) => endpoint.refusal(status, body, header),
    async read(response, header) {
      if (call.stream) {
        if (mediaType(response) !== (endpoint.streamType ?? 'text/event-stream')) return notAStream
        return openStream(response.body, endpoint.frames(call, header), { scope, share })
      }
      const reading = endpoint.answer(await wholeBody(response, { scope, share }), call, header)
      if (!reading.ok) return reading
      return { ok: true, value: { kind: 'answer', answer: reading.answer } }
    },
  })
}

const notAStream = failed({
  kind: 'malformed',
  detail: 'the answer to a streamed request is no event stream',
})

/** How much a stream may send before its first content. */
const mostWithoutContent = 8 * 1024 * 1024

/** Peeks until the first content, so that a stream which fails before it can be replaced. */
async function openStream(
  source: ByteSource,
  decoder: FrameDecoder,
  { scope, share }: { readonly scope: Scope; readonly share: Share },
): Promise<Attempt<ChatReply>> {
  const gate = new CommitGate(mostWithoutContent)
  const held = share.hold()
  try {
    for (;;) {
      const bytes = await scope.race(source.read()).catch(endOfOpened)
      held.add(bytes?.length ?? 0)
      let verdict = gate.push(bytes === undefined ? decoder.end() : decoder.push(bytes))
      if (verdict.state === 'held' && bytes === undefined) verdict = gate.end()
      switch (verdict.state) {
        case 'failed':
          return failed(verdict.failure)
        case 'open':
          return {
            ok: true,
            opened: true,
            value: { kind: 'stream', live: { source, decoder, frames: verdict.frames } },
          }
      }
    }
  } finally {
    held.release()
  }
}

/** The content type without its parameters. */
function mediaType(response: UpstreamResponse): string {
  const [type = ''] = (response.header('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** An opened stream that breaks off before its content has simply ended too early. */
function endOfOpened(error: unknown): never {
  const failure = failureOf(error)
  const { kind } = failure
  throw new UpstreamFault(
    kind === 'network' ? { kind: 'closed-early', reason: failure.reason } : failure,
  )
}
