import type * as z from 'zod'
import { type GatewayError, invalid } from './errors.ts'
import { UntranslatableError } from './untranslatable-error.ts'

/** Returns LM-1001 for the field that a schema rejected; `place` is the dotted path of the parsed value. */
export function invalidField(error: z.ZodError, place = ''): GatewayError {
  const { message, param } = toProblem(error, place)
  return invalid(message, param)
}

/** Returns the error for a field that the schema of one dialect rejected. */
export function untranslatableField(error: z.ZodError, place = ''): UntranslatableError {
  const { message, param } = toProblem(error, place)
  return new UntranslatableError(message, param)
}

/** Options for `safeParse` of a client's input: the gateway's messages in place of zod's. */
export const schemaMessages = Object.freeze({ error: describeIssue })

function toProblem(error: z.ZodError, place: string): { message: string; param: string } {
  const { path, message } = findDeepest(error.issues)
  const param = [...(place === '' ? [] : [place]), ...path].join('.')
  return { message: message === missing ? `${param} ${missing}` : `${param}: ${message}`, param }
}

const missing = 'is required'

/** Describes what a value must be. Rules that have their own message keep it. */
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

/** Returns `must be a string or an array` when every branch rejects the type of the value. */
function joinAlternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const rules = branches.flatMap(([first]) => first?.message.match(/^must be (.*)$/)?.[1] ?? [])
  return rules.length > 0 ? `must be ${rules.join(' or ')}` : undefined
}

/** Finds the issue to report. In a union, it is that of the branch that matched deepest. */
function findDeepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  // zod reports at least one issue with every failure.
  const issue = issues[0] as z.core.$ZodIssue
  if (issue.code !== 'invalid_union') return issue
  // A discriminated union without this type has no branches.
  const [inner, ...others] = issue.errors.filter((branch) => branch.length > 0).map(findDeepest)
  if (!inner) return issue
  const best = others.reduce((a, b) => (b.path.length > a.path.length ? b : a), inner)
  return best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue
}
