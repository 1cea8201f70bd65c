import { findMismatch, type Turn } from '../conversation.ts'
import { findSchemaProblem, type JsonSchema } from '../json-schema.ts'
import { check } from '../refusal.ts'
import type { ChatRequest } from './request.ts'

/** Checks what the schema of a request can not express. */
export function checkRequest(request: ChatRequest): void {
  checkCompanions(request)
  checkContents(request)
  checkTools(request)
  const format = request.response_format
  if (format?.type !== 'json_schema') return
  const { schema, strict } = format.json_schema
  checkSchema({ schema, strict, path: 'response_format.json_schema.schema' })
}

/** Fields that are allowed only beside another. */
function checkCompanions(request: ChatRequest): void {
  const { tools, stream, stream_options: options } = request
  for (const field of ['tool_choice', 'parallel_tool_calls'] as const) {
    const isAllowed = tools !== undefined || request[field] === undefined
    check(isAllowed, `'${field}' is only allowed when 'tools' are specified.`)
  }
  check(stream === true || !options, "'stream_options' is only allowed when 'stream' is enabled.")
}

/** An answer in the history says something or calls a tool. */
function checkContents({ messages }: ChatRequest): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const { content, refusal, tool_calls: calls = [] } = message
    const isFull = (content ?? refusal ?? undefined) !== undefined || calls.length > 0
    check(isFull, `Invalid value for 'messages[${index}].content': expected a string, got null.`)
  }
}

function checkTools({ tools = [], tool_choice: choice }: ChatRequest): void {
  for (const [index, { function: each }] of tools.entries()) {
    const { parameters: schema, strict } = each
    const path = `tools[${index}].function.parameters`
    check(!schema || schema.type === 'object', `${path}: type must be 'object'`)
    checkSchema({ schema, strict, path })
  }
  const names = tools.map((each) => each.function.name)
  check(new Set(names).size === names.length, 'tools: the names must be unique')
  if (typeof choice !== 'object') return
  const { name } = choice.function
  check(names.includes(name), `tool_choice: tools has no '${name}'`)
}

interface GivenSchema {
  readonly schema: JsonSchema | undefined
  readonly strict: boolean | null | undefined
  readonly path: string
}

function checkSchema({ schema, strict, path }: GivenSchema): void {
  if (!schema) return
  const problem = findSchemaProblem(schema, strict ? { isClosed: true, isComplete: true } : {})
  check(problem === undefined, `Invalid schema in '${path}': ${problem}`)
}

/** Every call is answered by a tool message directly after it, and every tool message answers one. */
export function checkPairs(turns: readonly Turn[]): void {
  const { unanswered = [], unknown = [] } = findMismatch(turns) ?? {}
  check(
    unanswered.length === 0,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.join(', ')}`,
  )
  check(
    unknown.length === 0,
    `messages with role 'tool' must be a response to a preceding message with 'tool_calls': ${unknown.join(', ')}`,
  )
}
