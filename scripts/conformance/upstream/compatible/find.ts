import type { JsonSchema } from '../json-schema.ts'
import type { Body, Call, Message } from './request.ts'

/*
 * What rules look for. Each function returns the place at fault, and undefined for a request that keeps the rule.
 */

type Place = number | string | undefined

/** The first message for which the test holds. */
export function findMessage(
  { messages }: Body,
  test: (message: Message, index: number) => boolean,
): number | undefined {
  const index = messages.findIndex(test)
  return index < 0 ? undefined : index
}

export function findRole(body: Body, role: string): Place {
  return findMessage(body, (message) => message.role === role)
}

/** Instructions anywhere but in the first message. */
export function findLateSystem(body: Body): Place {
  return findMessage(body, ({ role }, index) => index > 0 && isInstruction(role))
}

export function isInstruction(role: string): boolean {
  return role === 'system' || role === 'developer'
}

/** A conversation without any user message. */
export function findNoUser({ messages }: Body): Place {
  return messages.some(({ role }) => role === 'user') ? undefined : 0
}

/** A message of the first role directly before one of the second. */
export function findNeighbours({ messages }: Body, first: string, second: string): Place {
  const index = messages.findIndex(
    ({ role }, at) => at > 0 && role === second && messages[at - 1]?.role === first,
  )
  return index < 0 ? undefined : index
}

/** A member of an answer in the history. */
export function findMember(body: Body, name: string): Place {
  return findMessage(body, (message) => message.role === 'assistant' && name in message)
}

/** A member of the body that is not on the list. */
export function findUnlisted(body: Body, names: ReadonlySet<string>): Place {
  return Object.keys(body).find((name) => !names.has(name))
}

export function listCalls(message: Message): readonly Call[] {
  return message.tool_calls ?? []
}

/** A call whose result does not follow directly. */
export function findUnanswered({ messages }: Body): Place {
  for (const [index, message] of messages.entries()) {
    const results = listResults(messages, index)
    const open = listCalls(message).find(({ id }) => !results.includes(id))
    if (open) return open.id
  }
  return undefined
}

/** A result that does not follow its call. */
export function findStrayResult({ messages }: Body): Place {
  const answered = new Set(
    messages.flatMap((message, index) => {
      const ids = new Set(listCalls(message).map(({ id }) => id))
      return listResults(messages, index)
        .map((id, offset) => (ids.has(id) ? index + 1 + offset : -1))
        .filter((at) => at >= 0)
    }),
  )
  const stray = messages.findIndex(({ role }, index) => role === 'tool' && !answered.has(index))
  return stray < 0 ? undefined : messages[stray]?.tool_call_id
}

/** The ids of the tool messages directly behind a message. */
function listResults(messages: readonly Message[], index: number): readonly string[] {
  const ids: string[] = []
  for (const { role, tool_call_id: id = '' } of messages.slice(index + 1)) {
    if (role !== 'tool') break
    ids.push(id)
  }
  return ids
}

/** An id of a call that does not match. */
export function findId({ messages }: Body, valid: RegExp): Place {
  return messages
    .flatMap((message) => [
      ...listCalls(message).map(({ id }) => id),
      ...(message.tool_call_id === undefined ? [] : [message.tool_call_id]),
    ])
    .find((id) => !valid.test(id))
}

/** A name of a tool that does not match. */
export function findName({ tools }: Body, valid: RegExp): Place {
  return (tools ?? []).map((tool) => tool.function.name).find((name) => !valid.test(name))
}

/** A choice of tools that is not on the list. `named` is one tool. */
export function findChoice({ tool_choice: choice }: Body, accepted: readonly string[]): Place {
  if (choice === undefined || choice === null) return undefined
  const word = typeof choice === 'string' ? choice : 'named'
  return accepted.includes(word) ? undefined : word
}

/** A part of a message of a type that is not on the list. */
export function findPart({ messages }: Body, accepted: readonly string[]): Place {
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map(({ type }) => type)
    .find((type) => !accepted.includes(type))
}

/** A content that is a list, though all of it is text. */
export function findTextList(body: Body): Place {
  return findMessage(
    body,
    ({ content }) => Array.isArray(content) && content.every(({ type }) => type === 'text'),
  )
}

/** A tool without `parameters`. */
export function findNoParameters({ tools }: Body): Place {
  return (tools ?? []).find((tool) => tool.function.parameters === undefined)?.function.name
}

/** A property of a tool's schema without `type`. */
export function findUntyped({ tools }: Body): Place {
  for (const { function: each } of tools ?? []) {
    const found = findUntypedIn(each.parameters ?? {}, 'properties')
    if (found !== undefined) return found
  }
  return undefined
}

function findUntypedIn({ properties = {} }: JsonSchema, path: string): string | undefined {
  for (const [name, property] of Object.entries(properties)) {
    const at = `${path}.${name}`
    const options = property.anyOf ?? property.oneOf
    const isTyped =
      property.type !== undefined || options !== undefined || property.$ref !== undefined
    if (!isTyped) return at
    const inner = findUntypedIn(property, `${at}.properties`)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The messages since the last user message, with their places. */
export function listCurrentTurn({ messages }: Body): readonly (readonly [number, Message])[] {
  const start = messages.findLastIndex(({ role }) => role === 'user')
  return [...messages.entries()].slice(start + 1)
}

/** The answers of turns with calls. A user message begins a turn. */
export function listTurnsWithCalls({ messages }: Body): readonly (readonly [number, Message])[] {
  const turns: (readonly [number, Message])[][] = [[]]
  for (const entry of messages.entries()) {
    if (entry[1].role === 'user') turns.push([])
    if (entry[1].role === 'assistant') turns.at(-1)?.push(entry)
  }
  return turns.filter((turn) => turn.some(([, message]) => listCalls(message).length > 0)).flat()
}
