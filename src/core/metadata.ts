/** A client's own labels for a request: flat, small, and checked. */
export type Metadata = Readonly<Record<string, string | number | boolean>>
