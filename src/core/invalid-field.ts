import type * as z from 'zod'
import { type GatewayError, invalid } from './errors.ts'
import { UntranslatableError } from './untranslatable-error.ts'

/** LM-1001 for the field that a schema has refused; `place` is the dotted path of what was parsed. */
export function invalidField(error: z.ZodError, place = ''): GatewayError {
  const { message, param } = toProblem(error, place)
  return invalid(message, param)
}

/** The same, for a schema that only one dialect has. */
export function untranslatableField(error: z.ZodError, place = ''): UntranslatableError {
  const { message, param } = toProblem(error, place)
  return new UntranslatableError(message, param)
}

/** To be handed to `safeParse` of what a client sends: the schema's complaints in our own words. */
export const schemaMessages = Object.freeze({ error: describeIssue })

function toProblem(error: z.ZodError, place: string): { message: string; param: string } {
  const { path, message } = findDeepest(error.issues)
  const param = [...(place === '' ? [] : [place]), ...path].join('.')
  return { message: message === missing ? `${param} ${missing}` : `${param}: ${message}`, param }
}

const missing = 'is required'

/** Says what a value must be. Rules with words of their own keep them. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return missing
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames.get(issue.expected) ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'invalid_union':
      return joinAlternatives(issue.errors)
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
        : 'must not be empty'
    default:
      return undefined
  }
}

const typeNames: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'an object'],
])

/** `must be a string or an array`, of branches that all refuse the value itself. */
function joinAlternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const rules = branches.flatMap(([first]) => first?.message.match(/^must be (.*)$/)?.[1] ?? [])
  return rules.length > 0 ? `must be ${rules.join(' or ')}` : undefined
}

/** Of a union, the branch that got furthest shows what is wrong. */
function findDeepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  // zod reports at least one issue with every failure.
  const issue = issues[0] as z.core.$ZodIssue
  if (issue.code !== 'invalid_union') return issue
  // A discriminated union that knows no such type has no branches.
  const [inner, ...others] = issue.errors.filter((branch) => branch.length > 0).map(findDeepest)
  if (!inner) return issue
  const best = others.reduce((a, b) => (b.path.length > a.path.length ? b : a), inner)
  return best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue
}
