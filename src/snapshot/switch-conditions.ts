import type { CaseConfig } from '../config/index.ts'
import type { ShownFact, SwitchCondition, SwitchFacts } from '../core/switch.ts'
import { createWindow } from '../pricing/index.ts'

type When = CaseConfig['when']

/** Creates the conditions of a case. What is cheap to find out comes first. */
export function createConditions(when: When): readonly SwitchCondition[] {
  const { input_tokens: tokens, budget_used: budget, metadata = {} } = when
  const holds = when.hours && createWindow(when)
  return [
    ...isOneOf('api', when.api, ({ api }) => api),
    ...isOneOf('stream', when.stream, ({ stream }) => stream),
    ...isOneOf('key', when.key, ({ account }) => account?.keyId),
    ...isOneOf('group', when.group, ({ account }) => account?.groupId ?? undefined),
    ...Object.entries(metadata).flatMap(([name, values]) =>
      isOneOf(`metadata.${name}`, values, ({ metadata: given }) =>
        Object.hasOwn(given, name) ? given[name] : undefined,
      ),
    ),
    ...(holds ? [isDuring(holds)] : []),
    ...(budget
      ? [isBetween('budget_used', { above: budget.above }, ({ budgetUsed }) => budgetUsed)]
      : []),
    ...isOneOf('has_tools', when.has_tools, ({ hasTools }) => hasTools),
    ...isOneOf('has_images', when.has_images, ({ hasImages }) => hasImages),
    ...isOneOf('has_files', when.has_files, ({ hasFiles }) => hasFiles),
    ...(tokens ? [isBetween('input_tokens', tokens, ({ inputTokens }) => inputTokens)] : []),
  ]
}

type Scalar = string | number | boolean

/** Values of different types are different: `3` is not `"3"`. */
function isOneOf(
  name: string,
  wanted: Scalar | readonly Scalar[] | undefined,
  show: (facts: SwitchFacts) => ShownFact,
): readonly SwitchCondition[] {
  if (wanted === undefined) return []
  const values: ReadonlySet<ShownFact> = new Set([wanted].flat())
  return [{ name, show, holds: (facts) => values.has(show(facts)) }]
}

interface Range {
  readonly above?: number | undefined
  readonly below?: number | undefined
}

/** Never holds for a request without the number. */
function isBetween(
  name: string,
  { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY }: Range,
  show: (facts: SwitchFacts) => number | undefined,
): SwitchCondition {
  return {
    name,
    show,
    holds(facts) {
      const value = show(facts)
      return value !== undefined && value > above && value < below
    },
  }
}

function isDuring(holds: (at: number) => boolean): SwitchCondition {
  return {
    name: 'hours',
    show: ({ at }) => new Date(at).toISOString(),
    holds: ({ at }) => holds(at),
  }
}
