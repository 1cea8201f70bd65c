/** The admin API of a gateway, as commands use it. */
export interface AdminClient {
  /**
   * Sends a request and resolves to the JSON of the answer; undefined for an answer without a body.
   * Rejects with a `CommandFailure`: code 2 when the API refuses a value, else 1.
   */
  send(method: AdminMethod, path: string, body?: object): Promise<unknown>
  /** Whether a gateway that runs on the database accepts a new key only after a reload or a restart. */
  readonly needsReload: boolean
}

export type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A client that must be closed. */
export interface OpenAdminClient extends AdminClient {
  /** Names the database; undefined where a running gateway serves the API. */
  readonly note: string | undefined
  close(): Promise<void>
}
