import { findMismatch, type Turn } from '../conversation.ts'
import { findSchemaProblem } from '../json-schema.ts'
import { isThoughtCall, verifyThoughts, verifyVeil } from '../proofs.ts'
import { check } from '../refusal.ts'
import type { AssistantBlock, Message, MessagesRequest } from './request.ts'

/** Checks what the schema of a request can not express. */
export function checkRequest(request: MessagesRequest): void {
  checkTools(request)
  checkThinkingMode(request)
  const format = request.output_config?.format
  const problem = format ? findSchemaProblem(format.schema, { isClosed: true }) : undefined
  check(problem === undefined, `output_config.format.schema: ${problem}`)
  const marks = JSON.stringify(request).match(/"cache_control":\{/g)?.length ?? 0
  check(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`)
  checkMessages(request.messages)
  if (request.thinking?.type === 'enabled') checkLoop(request.messages)
}

export function isThinking({ thinking }: MessagesRequest): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
}

function checkTools({ tools = [], tool_choice: choice }: MessagesRequest): void {
  for (const [index, { type, input_schema: schema, strict }] of tools.entries()) {
    if (type && type !== 'custom') continue
    const path = `tools.${index}.custom.input_schema`
    check(schema?.type === 'object', `${path}.type: Field required`)
    const problem = findSchemaProblem(schema, { isClosed: strict === true })
    check(problem === undefined, `${path}: JSON schema is invalid: ${problem}`)
  }
  const names = tools.map(({ name }) => name)
  check(new Set(names).size === names.length, 'tools: Tool names must be unique.')
  if (!choice || choice.type === 'none') return
  check(tools.length > 0, 'tool_choice: may only be specified while providing tools')
  const isKnown = choice.type !== 'tool' || names.includes(choice.name ?? '')
  check(isKnown, `tool_choice: Tool '${choice.name}' not found in provided tools`)
}

function checkThinkingMode(request: MessagesRequest): void {
  if (!isThinking(request)) return
  const { thinking, tool_choice: choice, temperature, max_tokens: limit } = request
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  check(!isForced, 'Thinking may not be enabled when tool_choice forces tool use.')
  const isDefault = temperature === undefined || temperature === 1
  check(isDefault, '`temperature` may only be set to 1 when thinking is enabled.')
  const fits = thinking?.type !== 'enabled' || thinking.budget_tokens < limit
  check(fits, '`max_tokens` must be greater than `thinking.budget_tokens`.')
}

function checkMessages(messages: readonly Message[]): void {
  check(messages[0]?.role !== 'assistant', 'messages: first message must use the "user" role')
  for (const [index, { role, content }] of messages.entries()) {
    if (typeof content === 'string') continue
    if (role === 'assistant') checkProofs(content, `messages.${index}`)
    if (role === 'user') checkOrder(content, `messages.${index}`)
  }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  const end = typeof last.content === 'string' ? last.content : lastText(last.content)
  check(!/\s$/.test(end), 'messages: final assistant content cannot end with trailing whitespace')
}

function lastText(blocks: readonly AssistantBlock[]): string {
  const last = blocks.at(-1)
  return last?.type === 'text' ? last.text : ''
}

function checkProofs(blocks: readonly AssistantBlock[], path: string): void {
  for (const [index, block] of blocks.entries()) {
    const at = `${path}.content.${index}`
    if (block.type === 'redacted_thinking')
      check(verifyVeil(block.data), `${at}: Invalid \`data\` in \`redacted_thinking\` block`)
    if (block.type !== 'thinking') continue
    const hasVeiled = blocks[index + 1]?.type === 'redacted_thinking'
    check(
      verifyThoughts({ text: block.thinking, hasVeiled, signature: block.signature }),
      `${at}: Invalid \`signature\` in \`thinking\` block`,
    )
  }
}

function checkOrder(blocks: readonly { readonly type: string }[], path: string): void {
  const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result')
  const lastResult = blocks.findLastIndex(({ type }) => type === 'tool_result')
  const isFirst = firstOther < 0 || lastResult < firstOther
  check(isFirst, `${path}: tool_result blocks must come first`)
}

/** While a tool loop runs, the turn that it answers must begin with its thinking. */
function checkLoop(messages: readonly Message[]): void {
  const index = messages.findLastIndex(({ role }) => role === 'assistant')
  const content = messages[index]?.content
  if (typeof content !== 'object' || !content.some(({ type }) => type === 'tool_use')) return
  const found = content[0]?.type
  check(
    found === 'thinking' || found === 'redacted_thinking',
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  )
}

/** Whether the thinking is lost that led to the calls of the last turn. */
export function lacksThinking(messages: readonly Message[]): boolean {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content
  if (typeof content !== 'object') return false
  const isThought = content.some((block) => block.type === 'tool_use' && isThoughtCall(block.id))
  return isThought && !content.some(({ type }) => type === 'thinking')
}

/** Every call is answered by a result directly after it, and every result answers a call. */
export function checkPairs(turns: readonly Turn[]): void {
  const { turn, unanswered = [], unknown = [] } = findMismatch(turns) ?? {}
  check(
    unanswered.length === 0,
    `messages.${turn}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered.join(', ')}.`,
  )
  check(
    unknown.length === 0,
    `messages.${turn}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown.join(', ')}.`,
  )
}
