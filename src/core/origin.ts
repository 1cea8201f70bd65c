import type { RequestId } from './ids.ts'

/** Where a request comes from, for the log. */
export interface RequestOrigin {
  readonly id: RequestId
  /** The address of the client, where the host knows it. */
  readonly client?: string | undefined
}
