import { readFileSync } from 'node:fs'
import * as z from 'zod'

const exception = z.strictObject({
  kind: z.string(),
  /** Ids of models; a star at the end matches any ending. */
  ids: z.array(z.string()).min(1),
  /** The catalogue whose prices are taken where the two differ. */
  take: z.enum(['litellm', 'genai-prices']).optional(),
  /** Fees that neither catalogue has. */
  set: z.strictObject({ tool_costs_per_1k: z.record(z.string(), z.number()) }).optional(),
  /** Where the decision can be checked. */
  source: z.url(),
  reason: z.string().min(1),
})
export type Exception = z.infer<typeof exception>

/** Reads what is decided where the catalogues differ or lack a price. */
export function readExceptions(): readonly Exception[] {
  const text = readFileSync(new URL('./exceptions.json', import.meta.url), 'utf8')
  return z.array(exception).parse(JSON.parse(text))
}

/** True when the exception is one for the model. */
export function isFor({ kind, ids }: Exception, model: { kind: string; id: string }): boolean {
  return (
    kind === model.kind &&
    ids.some((each) =>
      each.endsWith('*') ? model.id.startsWith(each.slice(0, -1)) : each === model.id,
    )
  )
}
