import type { Api } from '../core/capability.ts'
import type { RequestHeaders } from '../core/endpoints.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import type { RequestId } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { RequestRecord } from '../core/request-record.ts'

/** A request whose trace begins. */
export interface TracedRequest {
  readonly request: Pick<Request, 'method' | 'url' | 'headers'>
  readonly id: RequestId
  readonly api: Api
  /** The path as in the documentation. */
  readonly route: string
}

/** The trace of one request: a span of its own, and one for each upstream call. */
export interface RequestTrace {
  startCall(call: TracedCall): CallTrace
  /** Notes that the stream of the serving link failed after its first content. */
  failStream(failure: UpstreamFailure): void
  /** Ends the span of the request, and before it that of the stream that served it. Called once. */
  end(record: RequestRecord): void
}

/** An upstream call that begins. */
export interface TracedCall {
  readonly link: Model
  /** How many calls with the same content the link has had before. */
  readonly resends: number
}

/** The trace of one upstream call. */
export interface CallTrace {
  /** Returns the headers of a call to this URL, with those that carry the trace. */
  propagate(url: string, headers: RequestHeaders): RequestHeaders
  /** Notes the status of the upstream's answer. */
  markAnswered(status: number): void
  /** Ends the span; that of a stream that has opened ends with its request. Called once. */
  end(result: CallEnd): void
}

/** How an upstream call has ended. */
export type CallEnd =
  | { readonly ok: true; readonly opened?: true; readonly resent?: true }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly resent?: true }

export type StartTrace = (request: TracedRequest) => RequestTrace
