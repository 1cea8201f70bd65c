import type { RequestId } from './ids.ts'

/** The id and the sender's address of a request, for the log. */
export interface RequestOrigin {
  readonly id: RequestId
  /** The client's address, where the host knows it. */
  readonly client?: string | undefined
}
