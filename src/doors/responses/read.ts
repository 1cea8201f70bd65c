import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { MadeMessage } from '../made-message.ts'
import { findState, type ReadRequest } from './chat-request.ts'
import { parseFields } from './content.ts'
import { type ResponsesRequest, type TranslatedFields, translatedFields } from './fields.ts'
import { ItemReader, type RequestBody } from './input.ts'
import { chooseTools } from './tool-choice.ts'
import { ToolCollector } from './tools.ts'

/** How many items are read at once: less than a millisecond's work. */
const readAtOnce = 16

/**
 * Reads a request for translated links, and can be interrupted between its items and tools. It never throws: the
 * first problem is reported with what could be read, because native links can serve the request, and the size of
 * its prompt must be estimated.
 */
export function* readForChat(request: ResponsesRequest, body: RequestBody): Steps<ReadRequest> {
  const problems: UntranslatableError[] = []
  const addProblem = (error: unknown) => {
    if (!(error instanceof UntranslatableError)) throw error
    problems.push(error)
  }
  const state = findState(request)
  if (state) problems.push(state)
  const tools = new ToolCollector()
  let fields = noFields
  try {
    fields = parseFields(translatedFields, request, '')
    if (fields.tools) yield* tools.add(fields.tools, 'tools')
  } catch (error) {
    addProblem(error)
  }
  const reader = new ItemReader(tools, body)
  for (const [index, item] of listItems(request).entries()) {
    try {
      const steps = reader.read(item, `input.${index}`)
      if (steps) yield* steps
    } catch (error) {
      addProblem(error)
    }
    if (index % readAtOnce === readAtOnce - 1) yield
  }
  const messages = reader.conversation.finish()
  if (messages.length === 0) {
    problems.push(new UntranslatableError('input must not be empty', 'input'))
  }
  const toolbox = tools.finish()
  return {
    request,
    fields,
    messages: [...toInstructions(fields), ...messages],
    toolbox,
    chatTools: chooseTools(toolbox, fields.tool_choice),
    leftOut: reader.leftOut,
    problem: problems[0],
  }
}

const noFields: TranslatedFields = Object.freeze({})

function listItems({ input }: ResponsesRequest): readonly Readonly<Record<string, unknown>>[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return input ?? []
}

/** The instructions precede the conversation. */
function toInstructions({ instructions }: TranslatedFields): readonly MadeMessage[] {
  if (!instructions) return []
  const message = { role: 'system', content: instructions }
  return [{ message, path: 'instructions', parts: [], calls: [] }]
}
