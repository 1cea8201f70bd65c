import type { z } from 'zod'
import { type ChatCall, chatRequest } from '../core/chat.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import { parseObject } from '../wire/body.ts'
import { layoutOf } from '../wire/json-splice.ts'

/** Deeper nesting is refused: some upstreams' parsers overflow on it. */
const maxDepth = 128

/** Reads a chat completion request, LM-1001 with the field at fault when it cannot be one. */
export function parseChat(bytes: Uint8Array): ChatCall {
  const parsed = chatRequest.safeParse(parseObject(bytes))
  const layout = layoutOf(bytes, ['model', 'stream_options'])
  if (layout.depth > maxDepth) throw invalid(`the request body is nested deeper than ${maxDepth}`)
  if (!parsed.success) throw invalidField(parsed.error)
  const request = parsed.data
  return {
    bytes,
    request,
    layout,
    stream: request.stream === true,
    wantsUsageChunk: request.stream_options?.include_usage === true,
  }
}

function invalidField(error: z.ZodError): GatewayError {
  const issue = deepest(error.issues)
  const param = issue.path.join('.')
  return invalid(`${param}: ${issue.message.toLowerCase()}`, param)
}

/** Of a union, the branch that got furthest tells what is wrong; the others only tell what it is not. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  // zod reports at least one issue with every failure.
  const issue = issues[0] as z.core.$ZodIssue
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors
    .filter((branch) => branch.length > 0)
    .map((branch) => deepest(branch))
    .reduce((best, next) => (next.path.length > best.path.length ? next : best))
  return inner.path.length > 0 ? { ...inner, path: [...issue.path, ...inner.path] } : issue
}
