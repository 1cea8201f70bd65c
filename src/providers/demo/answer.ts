/** What a route of the demo answers: a whole body, or the pieces of a stream. */
export type DemoAnswer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: 200; readonly events: readonly DemoEvent[] }

export interface DemoEvent {
  readonly data: string
  /** How many tokens this piece stands for, for the pace. */
  readonly tokens: number
}
