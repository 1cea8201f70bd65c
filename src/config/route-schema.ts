import * as z from 'zod'
import { strategies } from '../core/route.ts'
import { amount, distinct, headerText } from './rules.ts'

const targetSchema = z.strictObject({
  model: z.string(),
  weight: amount(0, 1_000_000).default(1),
})

/** One entry of `[[routes]]`. The rules about its models are in `check-routes.ts`. */
export const routeSchema = z.strictObject({
  id: headerText,
  strategy: z.enum(strategies),
  targets: z.array(targetSchema).min(1, { error: 'must not be empty' }),
  fallbacks: distinct(z.string()).default([]),
})

export type RouteConfig = z.infer<typeof routeSchema>
