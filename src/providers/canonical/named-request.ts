import type { ChatCall } from '../../core/chat.ts'
import { mapInSteps, type Steps } from '../../core/steps.ts'
import { createToolNames, sameNames, type ToolNames } from '../../wire/tool-names.ts'
import type { CanonicalMessage } from './messages.ts'
import { PastCall } from './past-call.ts'
import { memoizePerCall, type PerCall } from './per-call.ts'
import { type CanonicalRequest, readRequest } from './request.ts'
import type { ToolChoice } from './tools.ts'

/** A request with names of functions that its upstream accepts. */
export interface NamedRequest {
  readonly request: CanonicalRequest
  /** Restores the client's names in the answer. Holds nothing else of the request. */
  readonly names: ToolNames
}

/** Reads requests for one API. */
export interface NamedReader {
  readonly read: PerCall<NamedRequest>
  /** Returns the names of a request. They stay when its parsed form is dropped: the answer needs them. */
  readonly readNames: (call: ChatCall) => ToolNames
}

/**
 * Returns a reader of requests for an API that accepts only names of this form. Names of another form are
 * replaced in the tools, in the choice among them and in the history. Tools of a vendor keep their names.
 */
export function bindToolNames(form: RegExp): NamedReader {
  const namesByCall = new WeakMap<ChatCall, ToolNames>()
  const read = memoizePerCall(function* (call) {
    const request = yield* readRequest.inSteps(call)
    const named = yield* renameTools(request, (name) => form.test(name))
    namesByCall.set(call, named.names)
    return named
  })
  return { read, readNames: (call) => namesByCall.get(call) ?? read(call).names }
}

function* renameTools(
  request: CanonicalRequest,
  isValid: (name: string) => boolean,
): Steps<NamedRequest> {
  const names = yield* createToolNames(listNames(request), isValid)
  if (names === sameNames) return { request, names }
  const { tools, toolChoice, messages } = request
  return {
    request: {
      ...request,
      tools: tools.map((tool) => ({ ...tool, name: names.shorten(tool.name) })),
      toolChoice: toolChoice && renameChoice(toolChoice, names),
      messages: yield* mapInSteps(messages, (message) => renameMessage(message, names)),
    },
    names,
  }
}

function* listNames({ tools, messages }: CanonicalRequest): Generator<string> {
  for (const { name } of tools) yield name
  for (const message of messages) {
    if (message.role === 'assistant') for (const { name } of message.calls) yield name
    if (message.role === 'tool' && message.name !== undefined) yield message.name
  }
}

function renameChoice(choice: ToolChoice, names: ToolNames): ToolChoice {
  switch (choice.kind) {
    case 'function':
      return { ...choice, name: names.shorten(choice.name) }
    case 'allowed':
      return { ...choice, names: choice.names.map((name) => names.shorten(name)) }
    case 'auto':
    case 'none':
    case 'required':
    case 'custom':
      return choice
    default:
      return choice satisfies never
  }
}

function renameMessage(message: CanonicalMessage, names: ToolNames): CanonicalMessage {
  switch (message.role) {
    case 'assistant':
      return { ...message, calls: message.calls.map((call) => renameCall(call, names)) }
    case 'tool':
      return { ...message, name: message.name && names.shorten(message.name) }
    case 'system':
    case 'user':
      return message
    default:
      return message satisfies never
  }
}

function renameCall(call: PastCall, names: ToolNames): PastCall {
  const name = names.shorten(call.name)
  if (name === call.name) return call
  const { id, arguments: text, path, raw } = call
  return new PastCall({ id, name, arguments: text, path, raw })
}
