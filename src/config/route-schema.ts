import * as z from 'zod'
import { fallbackCauses } from '../core/fallback.ts'
import { strategies } from '../core/route.ts'
import { affinity, affinityTtl, amount, distinct, routeId, setting } from './rules.ts'
import { caseSchema } from './switch-schema.ts'

const targetSchema = setting(
  'The models of the `[[routes]]` entry above; in one line, `targets = [{ model = "a" }, { ' +
    'model = "b" }]`.',
  z.strictObject({
    model: setting('The id of a model. A route cannot be a target, nor a fallback.', z.string()),
    weight: setting(
      '0 to 1000000. The share of this target, relative to the others. A target with weight 0 ' +
        'is never the first choice; one target must have more.',
      amount(0, 1_000_000).default(1),
    ),
  }),
)

/**
 * One entry of `[[routes]]`. The rules about its models are in `check-routes.ts`, and those of a switch in
 * `check-switches.ts`.
 */
export const routeSchema = setting(
  'One entry for each id that several models serve. Clients ask for a ' +
    '[route](resilience.md#one-id-several-deployments) as they ask for a model.',
  z.strictObject({
    id: setting(
      'What clients write in `model`, with the same rule as the `id` of a model, and without `*`. ' +
        'No model or other route may have it.',
      routeId,
    ),
    strategy: setting(
      'How the targets are [ordered](resilience.md#one-id-several-deployments) for each ' +
        'request: `weighted`, `fastest`, `cheapest` or `least_busy`. With `switch`, `cases` choose ' +
        '[one target](resilience.md#one-id-chosen-by-the-request).',
      z.enum([...strategies, 'switch']),
    ),
    targets: setting(
      'One or more targets; see below. Required, except for `switch`, which has `cases` and ' +
        '`default` in place of this and of the settings below.',
      z.array(targetSchema).min(1, { error: 'must not be empty' }).default([]),
    ),
    cases: setting(
      'Required for `switch`: one or more cases; see below.',
      z.array(caseSchema).min(1, { error: 'must not be empty' }).default([]),
    ),
    default: setting(
      'Required for `switch`: the id of a model, or of another route, that serves when no case holds.',
      z.string().optional(),
    ),
    fallbacks: setting(
      'Ids of models to try when no target serves, in this order. They are not targets, and ' +
        'have every capability of the route.',
      distinct(z.string()).default([]),
    ),
    fallback_on: setting(
      'As in a model. Holds for all links of the route; if absent, each link has its own.',
      distinct(z.enum(fallbackCauses)).optional(),
    ),
    affinity: setting(
      'Whether a [session](resilience.md#sessions) stays at the target that has served it: ' +
        '`false` for `cheapest` if absent, `true` for the others. With `"prefix"`, so do requests ' +
        'that name no session and begin with the same long prompt.',
      affinity.optional(),
    ),
    affinity_ttl_seconds: setting(
      '1 to 604800. How long the target of a session is remembered after its last request.',
      affinityTtl.default(300),
    ),
  }),
)

export type RouteConfig = z.infer<typeof routeSchema>
