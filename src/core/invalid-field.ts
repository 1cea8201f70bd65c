import type { z } from 'zod'
import { type GatewayError, invalid } from './errors.ts'

/** LM-1001 for the field that a schema has refused; `place` is the dotted path of what was parsed. */
export function invalidField(error: z.ZodError, place = ''): GatewayError {
  const issue = deepest(error.issues)
  const param = [...(place === '' ? [] : [place]), ...issue.path].join('.')
  return invalid(`${param}: ${issue.message.toLowerCase()}`, param)
}

/** Of a union, the branch that got furthest tells what is wrong; the others only tell what it is not. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  // zod reports at least one issue with every failure.
  const issue = issues[0] as z.core.$ZodIssue
  if (issue.code !== 'invalid_union') return issue
  // A discriminated union that knows no such type has no branches to tell of.
  const [inner, ...others] = issue.errors.filter((branch) => branch.length > 0).map(deepest)
  if (!inner) return issue
  const best = others.reduce((a, b) => (b.path.length > a.path.length ? b : a), inner)
  return best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue
}
