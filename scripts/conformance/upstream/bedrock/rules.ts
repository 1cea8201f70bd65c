import { findMismatch, type Turn } from '../conversation.ts'
import { findSchemaProblem } from '../json-schema.ts'
import { isThoughtCall, verifyThoughts, verifyVeil } from '../proofs.ts'
import { check } from '../refusal.ts'
import type { Block, ConverseRequest, Message } from './request.ts'

/** Checks what the schema of a request can not express. */
export function checkRequest(request: ConverseRequest): void {
  checkTools(request)
  checkMessages(request.messages)
  const { thinking } = request.additionalModelRequestFields ?? {}
  if (thinking?.type === 'enabled') checkLoop(request.messages)
}

function checkTools({ toolConfig, messages }: ConverseRequest): void {
  const blocks = messages.flatMap(({ content }) => content)
  check(
    toolConfig !== undefined || !blocks.some(({ toolUse, toolResult }) => toolUse ?? toolResult),
    'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
  )
  const specs = (toolConfig?.tools ?? []).flatMap((each) => each.toolSpec ?? [])
  for (const { name, inputSchema } of specs) {
    const path = `toolSpec ${name}: inputSchema.json`
    check(inputSchema.json.type === 'object', `${path}.type must be one of the following: object.`)
    const problem = findSchemaProblem(inputSchema.json)
    check(problem === undefined, `${path}: ${problem}`)
  }
  const names = specs.map(({ name }) => name)
  check(new Set(names).size === names.length, 'toolConfig: the names of tools must be unique')
  const wanted = toolConfig?.toolChoice?.tool?.name
  check(wanted === undefined || names.includes(wanted), `toolChoice: no tool is named ${wanted}`)
}

function checkMessages(messages: readonly Message[]): void {
  check(
    messages[0]?.role === 'user',
    'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  )
  for (const [index, { role, content }] of messages.entries()) {
    check(
      messages[index - 1]?.role !== role,
      'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
    )
    checkProofs(content, `messages.${index}`)
  }
}

function checkProofs(content: readonly Block[], path: string): void {
  for (const [index, { reasoningContent }] of content.entries()) {
    const { reasoningText, redactedContent } = reasoningContent ?? {}
    const at = `${path}.content.${index}`
    if (redactedContent !== undefined)
      check(verifyVeil(redactedContent), `${at}: Invalid \`data\` in \`redacted_thinking\` block`)
    if (!reasoningText) continue
    const { text, signature = '' } = reasoningText
    const hasVeiled = content[index + 1]?.reasoningContent?.redactedContent !== undefined
    const isIntact = verifyThoughts({ text, hasVeiled, signature })
    check(isIntact, `${at}: Invalid \`signature\` in \`thinking\` block`)
  }
}

/** While a tool loop runs, the turn that it answers must begin with its thinking. */
function checkLoop(messages: readonly Message[]): void {
  const [answered, results] = messages.slice(-2)
  if (!results?.content.some(({ toolResult }) => toolResult)) return
  check(
    answered?.content[0]?.reasoningContent !== undefined,
    `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  )
}

/** Whether the thinking is lost that led to the calls of the last turn. */
export function lacksThinking(messages: readonly Message[]): boolean {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
  const isThought = content.some(({ toolUse }) => toolUse && isThoughtCall(toolUse.toolUseId))
  return isThought && !content.some(({ reasoningContent }) => reasoningContent)
}

/** Every call is answered by a result in the next message, and every result answers a call. */
export function checkPairs(turns: readonly Turn[]): void {
  const { turn = 0, unanswered = [], unknown = [] } = findMismatch(turns) ?? {}
  check(
    unanswered.length === 0,
    `Expected toolResult blocks at messages.${turn + 1}.content for the following Ids: ${unanswered.join(', ')}`,
  )
  check(
    unknown.length === 0,
    `The number of toolResult blocks at messages.${turn}.content exceeds the number of toolUse blocks of previous turn: ${unknown.join(', ')}.`,
  )
}
