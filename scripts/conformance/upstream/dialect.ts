import { z } from 'zod'
import { Refusal } from './refusal.ts'

/** A request, as far as vendors look at it. */
export interface UpstreamRequest {
  /** The path below the dialect's own prefix. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: unknown
}

/** An answer with status 200. */
export type Reply = (WholeReply | StreamReply) & {
  /** The request holds a substitute for a proof that was lost. */
  readonly lacksProof?: boolean
  /** What the vendor passes over, although it serves the request. */
  readonly misread?: string
}

export interface WholeReply {
  readonly kind: 'whole'
  readonly model: string
  readonly body: object
}

export interface StreamReply {
  readonly kind: 'stream'
  readonly model: string
  readonly contentType: string
  readonly frames: readonly (string | Uint8Array)[]
}

export interface ErrorReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/** The API of a vendor. */
export interface Dialect {
  /** Answers a request. Throws a `Refusal`. */
  handle(request: UpstreamRequest): Reply
  /** Writes a refusal in the vendor's form. */
  refuse(refusal: Refusal): ErrorReply
}

/** The credential that every vendor accepts. */
export const upstreamKey = 'upstream-key'

/** Parses a body. Throws a 400 that names the first field at fault, its path written by `toPath`. */
export function parseBody<T>(
  schema: z.ZodType<T>,
  body: unknown,
  toPath: (path: readonly PropertyKey[]) => string,
): T {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const { path, message } = deepestIssue(result.error.issues)
  throw new Refusal(400, `${toPath(path)}: ${message}`)
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'>

/** Of a union, the option that matches furthest explains the most. */
function deepestIssue(issues: readonly z.core.$ZodIssue[]): Issue {
  const found = issues.flatMap((issue): Issue[] => {
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
    return issue.errors.map((inner) => {
      const deepest = deepestIssue(inner)
      return { path: [...issue.path, ...deepest.path], message: deepest.message }
    })
  })
  const [deepest] = found.sort((a, b) => b.path.length - a.path.length)
  return deepest ?? { path: [], message: 'invalid' }
}

export const dottedPath = (path: readonly PropertyKey[]) => path.map(String).join('.')

/** `messages[1].content` */
export const bracketedPath = (path: readonly PropertyKey[]) =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1)

/** A server-sent event with JSON data. */
export function sseFrame(data: object, event?: string): string {
  return `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`
}
