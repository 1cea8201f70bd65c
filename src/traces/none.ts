import type { CallTrace, RequestTrace } from './trace.ts'

const nothing = Object.freeze({})

const call: CallTrace = Object.freeze({
  propagate: () => nothing,
  markAnswered() {},
  end() {},
})

/** The trace of a request that is not traced. */
export const noTrace: RequestTrace = Object.freeze({
  startCall: () => call,
  failStream() {},
  end() {},
})
