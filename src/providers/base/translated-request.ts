/** A chat request in a vendor's own form. */
export interface TranslatedRequest {
  readonly body: object
  /** The output token limit in `body`; undefined if it has none. */
  readonly maxTokens: number | undefined
  /** The paths of the fields that were left out or weakened, because the API has no counterpart. */
  readonly dropped: readonly string[]
}
