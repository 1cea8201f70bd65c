/** The forms in which upstreams of the OpenAI format send the reasoning of an answer. */
export const reasoningForms = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'chunks',
  'tags',
] as const
export type ReasoningForm = (typeof reasoningForms)[number]

/**
 * The reasoning of an earlier answer, as its upstream sent it. A chat request that the gateway writes carries
 * it on assistant messages as `past_reasoning`, a list; the profile of the upstream decides what goes back.
 */
export interface PastReasoning {
  /** The client-facing id of the model that answered; undefined for text that a client returned alone. */
  readonly model?: string | undefined
  /** The family of that model, which may take it back too. */
  readonly lineage?: string | undefined
  /** The form in which it came; undefined when unknown. */
  readonly form?: ReasoningForm | undefined
  /** The text, which may be empty. */
  readonly text: string
  /** The entries of `reasoning_details`, or the thinking chunks of the content, unchanged. */
  readonly entries?: readonly unknown[] | undefined
  /** The white space between the closing tag and the text, for the form `tags`. */
  readonly gap?: string | undefined
}
