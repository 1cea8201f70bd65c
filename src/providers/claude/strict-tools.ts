import { isObject } from '../../wire/json/parse.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, getStrictPath } from '../canonical/tools.ts'
import { toClaudeSchema } from './schema.ts'

/**
 * The vendor's limits on all strict tools of a request together, beyond which it answers 400:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
const limits = { tools: 20, optional: 24, unions: 16 } as const

type Costs = { readonly [Limit in keyof typeof limits]: number }

/** A request whose strict tools the vendor accepts. */
export interface StrictTools {
  readonly tools: readonly FunctionTool[]
  /** The paths of `strict` of the tools that are no longer strict. */
  readonly dropped: readonly string[]
}

/**
 * Gives strict tools parameters in the enforced subset. In order, a tool that would go beyond the vendor's
 * limits is not strict.
 */
export function fitStrictTools({ tools }: Pick<CanonicalRequest, 'tools'>): StrictTools {
  if (!tools.some(({ strict }) => strict)) return { tools, dropped: [] }
  const dropped: string[] = []
  let spent: Costs = { tools: 0, optional: 0, unions: 0 }
  const fitted = tools.map((tool) => {
    if (!tool.strict) return tool
    // The schema of an object is an object.
    const parameters = toClaudeSchema({
      type: 'object',
      ...(tool.parameters ?? noParameters),
    }) as object
    const total = addCosts(spent, { ...countParameters(parameters), tools: 1 })
    if (!isWithin(total)) {
      dropped.push(getStrictPath(tool))
      return { ...tool, strict: false }
    }
    spent = total
    return { ...tool, parameters: parameters as FunctionTool['parameters'] }
  })
  return { tools: fitted, dropped }
}

const noParameters = Object.freeze({ properties: {} })

function isWithin(costs: Costs): boolean {
  return (
    costs.tools <= limits.tools &&
    costs.optional <= limits.optional &&
    costs.unions <= limits.unions
  )
}

function addCosts(one: Costs, other: Costs): Costs {
  return {
    tools: one.tools + other.tools,
    optional: one.optional + other.optional,
    unions: one.unions + other.unions,
  }
}

/** Counts the parameters that need not be given, and those of several types, at every depth. */
function countParameters(schema: unknown): Costs {
  let costs: Costs = { tools: 0, optional: 0, unions: 0 }
  if (Array.isArray(schema)) {
    for (const item of schema) costs = addCosts(costs, countParameters(item))
    return costs
  }
  if (!isObject(schema)) return costs
  const { properties, required, anyOf, type } = schema
  if (isObject(properties)) {
    const names = new Set<unknown>(Array.isArray(required) ? required : [])
    const optional = Object.keys(properties).filter((name) => !names.has(name)).length
    costs = addCosts(costs, { tools: 0, optional, unions: 0 })
  }
  if (Array.isArray(anyOf) || Array.isArray(type)) costs = { ...costs, unions: costs.unions + 1 }
  return addCosts(costs, countParameters(Object.values(schema)))
}
