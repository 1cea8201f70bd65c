import type { RouteConfig } from '../config/index.ts'
import { capabilities, modalities } from '../core/capability.ts'
import type { ModelId, UnixSeconds } from '../core/ids.ts'
import type { ModelRoute, OfferedRoute, SwitchRoute } from '../core/route.ts'
import type { UnchangedParts } from './reuse.ts'
import { createConditions } from './switch-conditions.ts'

interface SwitchParts {
  readonly now: UnixSeconds
  readonly unchanged: Pick<UnchangedParts, 'route'>
  /** The models and the other routes. */
  readonly routes: Map<string, OfferedRoute>
  /** Finds what a pattern serves. */
  readonly findOther: (id: string) => ModelRoute | undefined
}

/** Adds the switches to the routes that they may choose, and puts all routes in the order of the file. */
export function addSwitches(
  entries: readonly RouteConfig[],
  { routes, findOther, now, unchanged }: SwitchParts,
): void {
  const switches = new Map(
    entries.flatMap((entry) => (entry.strategy === 'switch' ? [[entry.id, entry]] : [])),
  )
  const find = (id: string): OfferedRoute => {
    const entry = routes.has(id) ? undefined : switches.get(id)
    if (entry) routes.set(id, buildSwitch(entry))
    // The configuration is valid, so every target exists, and switches have no circles.
    return (routes.get(id) ?? findOther(id)) as OfferedRoute
  }
  const buildSwitch = (entry: RouteConfig): SwitchRoute => {
    const cases = entry.cases.map(({ when, target }) => ({
      conditions: createConditions(when),
      target: find(target),
    }))
    const otherwise = find(entry.default as string)
    const targets = [...cases.map(({ target }) => target), otherwise]
    return {
      id: entry.id as ModelId,
      capabilities: capabilities.filter((one) =>
        targets.some((each) => each.capabilities.includes(one)),
      ),
      modalities: modalities.filter((one) => targets.some((each) => each.modalities.includes(one))),
      created: unchanged.route(entry)?.created ?? now,
      provider: undefined,
      cases,
      otherwise,
    }
  }
  for (const id of switches.keys()) find(id)
  for (const { id } of switches.size > 0 ? entries : []) {
    const route = find(id)
    routes.delete(id)
    routes.set(id, route)
  }
}
