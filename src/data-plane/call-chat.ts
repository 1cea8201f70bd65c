import type { UpstreamFailure } from '../core/failure.ts'
import type { UpstreamResponse } from '../core/ports.ts'
import type { ChatAnswer, ChatEndpoint } from '../core/provider.ts'
import type { StreamClasses } from '../core/streams.ts'
import type { AttemptContext, CallResult } from '../resilience/index.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { type CallSetting, callUpstream, failed, wholeBody } from './call-upstream.ts'
import type { ParsedChat } from './chat-input.ts'
import { type PeekedStream, peek } from './reply-stream.ts'

export type ChatReply =
  | { readonly kind: 'answer'; readonly answer: ChatAnswer }
  | { readonly kind: 'stream'; readonly stream: PeekedStream }

/** What the upstream calls of one chat request need. */
export interface ChatSetting extends CallSetting {
  readonly streams: StreamClasses
}

/** One upstream call: up to the whole answer, or up to the first content of a stream. */
export function callChat(
  call: ParsedChat,
  { link, scope, mayResend }: AttemptContext,
  { clock, share, streams }: ChatSetting,
): Promise<CallResult<ChatReply>> {
  // The route was chosen for its chat capability, so there is an endpoint.
  const endpoint = link.chat as ChatEndpoint
  return callUpstream<ChatReply>({
    link,
    scope,
    mayResend,
    clock,
    share,
    streamed: call.stream,
    request() {
      const request = endpoint.buildRequest(call)
      call.forget()
      return request
    },
    refusal: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response, header) {
      if (call.stream) {
        if (mediaType(response) !== (endpoint.streamType ?? 'text/event-stream')) return notAStream
        const decoder = endpoint.createDecoder(call, header)
        return commit(peek(response.body, decoder, { streams, share }), scope)
      }
      const reading = endpoint.parseAnswer(
        await wholeBody(response, { scope, share }),
        call,
        header,
      )
      if (!reading.ok) return reading
      return { ok: true, value: { kind: 'answer', answer: reading.answer } }
    },
  })
}

const notAStream = failed({
  kind: 'malformed',
  detail: 'the answer to a streamed request is no event stream',
})

/** Waits for the first content, so that a stream which fails before it can be replaced. */
async function commit(stream: PeekedStream, scope: CancelScope): Promise<CallResult<ChatReply>> {
  const failure = await scope.race(stream.opened)
  if (failure) return failed(endOfOpened(failure))
  return { ok: true, opened: true, value: { kind: 'stream', stream } }
}

/** The content type without its parameters. */
function mediaType(response: UpstreamResponse): string {
  const [type = ''] = (response.header('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** An opened stream that breaks off before its content has simply ended too early. */
function endOfOpened(failure: UpstreamFailure): UpstreamFailure {
  const { kind } = failure
  return kind === 'network' ? { kind: 'closed-early', reason: failure.reason } : failure
}
