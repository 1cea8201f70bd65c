/** The members of a vendor's error; a member that the vendor did not send is undefined. */
export interface VendorError {
  /** The HTTP status of the answer, or the status that an error inside a 2xx answer names. */
  readonly status?: number | undefined
  readonly code?: string | number | undefined
  readonly type?: string | undefined
  /** The field at fault in the request to the vendor. */
  readonly param?: string | undefined
  readonly message?: string | undefined
  /** The other members of its error object. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}
