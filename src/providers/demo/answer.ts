import type * as z from 'zod'

/** The answer of a demo route: a JSON body or the events of a stream. */
export type DemoAnswer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: 200; readonly events: readonly DemoEvent[] }

export interface DemoEvent {
  readonly data: string
  /** The number of tokens in this event, for pacing. */
  readonly tokens: number
}

/** Answers 400 and names the field that the schema of the demo rejected. */
export function rejectRequest(error: z.ZodError): DemoAnswer {
  const message = `the demo provider cannot read ${error.issues[0]?.path.join('.')}`
  return { status: 400, json: { error: { message, type: 'invalid_request_error' } } }
}
