import type { CallTrace, RequestTrace } from './trace.ts'

const call: CallTrace = Object.freeze<CallTrace>({
  propagate: (_, headers) => headers,
  markAnswered() {},
  end() {},
})

/** The trace of a request that is not traced. */
export const noTrace: RequestTrace = Object.freeze({
  startCall: () => call,
  failStream() {},
  end() {},
})
