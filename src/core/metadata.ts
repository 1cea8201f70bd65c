/** Validated labels that a client attached to its request. */
export type Metadata = Readonly<Record<string, string | number | boolean>>
