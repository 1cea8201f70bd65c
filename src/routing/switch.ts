import type { ModelRoute, OfferedRoute, SwitchCase } from '../core/route.ts'
import type { SwitchFacts, SwitchStep, TriedCase } from '../core/switch.ts'

/** The route that serves a request, and the switches on the way to it. */
export interface Choice {
  readonly route: ModelRoute
  readonly steps: readonly SwitchStep[]
}

/** Follows the switches of a request: of each, the first case that holds decides, or else its default. */
export function chooseRoute(asked: OfferedRoute, facts: SwitchFacts): Choice {
  const steps: SwitchStep[] = []
  let route = asked
  // The configuration is valid, so switches have no circles.
  while (route.cases) {
    const { id, cases, otherwise } = route
    const tried: TriedCase[] = []
    const held = cases.find((one) => {
      const result = tryCase(one, facts)
      tried.push(result)
      return result.holds
    })
    route = held?.target ?? otherwise
    steps.push({ id, target: route.id, tried })
  }
  return { route, steps }
}

function tryCase({ conditions, target }: SwitchCase, facts: SwitchFacts): TriedCase {
  const failing = conditions.findIndex((condition) => !condition.holds(facts))
  const holds = failing < 0
  const tried = holds ? conditions : conditions.slice(0, failing + 1)
  return {
    target: target.id,
    holds,
    conditions: tried.map((condition, at) => ({
      name: condition.name,
      value: condition.show(facts),
      holds: holds || at < failing,
    })),
  }
}
