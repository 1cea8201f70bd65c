import type { Api } from '../core/capability.ts'
import type { RequestHeaders } from '../core/endpoints.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { RequestRecord } from '../core/request-record.ts'
import type { Span, TracePort } from '../core/traces.ts'
import { describeCall, describeCallEnd, nameCall } from './call-attributes.ts'
import { describeRequest, describeRequestEnd, isServerError } from './request-attributes.ts'
import type { CallEnd, CallTrace, RequestTrace, StartTrace, TracedCall } from './trace.ts'

/** Starts the traces of the requests of one gateway. */
export function createStartTrace(port: TracePort, clock: Clock): StartTrace {
  return (traced) => {
    const { request, route } = traced
    const span = port.startServerSpan({
      name: `${request.method} ${route}`,
      attributes: describeRequest(traced),
      traceparent: request.headers.get('traceparent') ?? undefined,
      tracestate: request.headers.get('tracestate') ?? undefined,
    })
    return new RecordedTrace(span, { api: traced.api, clock })
  }
}

interface TraceContext {
  readonly api: Api
  readonly clock: Clock
}

class RecordedTrace implements RequestTrace {
  readonly #span: Span
  readonly #context: TraceContext
  #stream: RecordedCall | undefined
  #streamFailure: UpstreamFailure | undefined

  constructor(span: Span, context: TraceContext) {
    this.#span = span
    this.#context = context
  }

  startCall({ link, resends }: TracedCall): CallTrace {
    const { api, clock } = this.#context
    const span = this.#span.startClientSpan({
      name: nameCall(api, link),
      attributes: describeCall({ api, link, resends }),
    })
    return new RecordedCall(span, {
      clock,
      onOpened: (call) => {
        this.#stream = call
      },
    })
  }

  failStream(failure: UpstreamFailure): void {
    this.#streamFailure = failure
  }

  end(record: RequestRecord): void {
    const failure = this.#streamFailure ?? (record.served ? undefined : abandoned)
    this.#stream?.endStream(failure)
    const { isRecorded } = this.#span
    this.#span.end({
      attributes: isRecorded ? describeRequestEnd(record) : {},
      isError: isServerError(record),
    })
  }
}

/** The gateway gave up on a stream that had opened. */
const abandoned = Object.freeze({ kind: 'abandoned' } as const)

interface RecordedCallOptions {
  readonly clock: Clock
  /** Called when the call has opened a stream, which ends with its request. */
  readonly onOpened: (call: RecordedCall) => void
}

class RecordedCall implements CallTrace {
  readonly #span: Span
  readonly #options: RecordedCallOptions
  readonly #started: Millis
  #url: string | undefined
  #status: number | undefined
  #timeToFirstChunk: Millis | undefined
  #isResent = false

  constructor(span: Span, options: RecordedCallOptions) {
    this.#span = span
    this.#options = options
    this.#started = options.clock.elapsed()
  }

  propagate(url: string, headers: RequestHeaders): RequestHeaders {
    this.#url = url
    return { ...headers, ...this.#span.headers }
  }

  markAnswered(status: number): void {
    this.#status = status
  }

  end(result: CallEnd): void {
    this.#isResent = result.resent === true
    if (!result.ok) return this.#end(result.failure)
    if (!result.opened) return this.#end(undefined)
    const { clock, onOpened } = this.#options
    this.#timeToFirstChunk = clock.elapsed() - this.#started
    onOpened(this)
  }

  endStream(failure: UpstreamFailure | undefined): void {
    this.#end(failure)
  }

  #end(failure: UpstreamFailure | undefined): void {
    this.#span.end(
      describeCallEnd({
        url: this.#url,
        status: this.#status,
        timeToFirstChunk: this.#timeToFirstChunk,
        isResent: this.#isResent,
        failure,
      }),
    )
  }
}
