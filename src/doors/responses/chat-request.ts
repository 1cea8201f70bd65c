import type { ChatRequest } from '../../core/chat.ts'
import { mapInSteps, type Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { MadeMessage } from '../made-message.ts'
import { addProofs } from '../proofs.ts'
import { fitResults } from '../tool-results.ts'
import type { ChatTarget } from '../translated-link.ts'
import { isFileAddress, onlyNative } from './content.ts'
import type { ResponsesRequest, TranslatedFields } from './fields.ts'
import type { ChosenTools } from './tool-choice.ts'
import type { OfferedTool, Toolbox } from './tools.ts'

/** A request whose items and tools have been read. Nothing in it depends on a link. */
export interface ReadRequest {
  readonly request: ResponsesRequest
  readonly fields: TranslatedFields
  readonly messages: readonly MadeMessage[]
  readonly toolbox: Toolbox
  readonly chatTools: ChosenTools
  /** The paths of the items that are left out. */
  readonly leftOut: readonly string[]
  /** Why no translated link can serve the request. */
  readonly problem: UntranslatableError | undefined
}

/** Fields that need a provider which keeps state. */
const stateful = ['previous_response_id', 'conversation', 'prompt'] as const

/** Returns the error for a request that depends on what a provider keeps. */
export function findState(request: ResponsesRequest): UntranslatableError | undefined {
  const field = stateful.find((name) => request[name] !== undefined && request[name] !== null)
  if (field !== undefined) return onlyNative(field, 'stored responses')
  return request['background'] === true
    ? onlyNative('background', 'responses in the background')
    : undefined
}

/** The messages of a request in the form that one target accepts. */
export interface FittedMessages {
  readonly target: ChatTarget
  readonly messages: readonly MadeMessage[]
}

/** Brings the messages into the form that a target accepts. */
export function fitMessages({ messages }: ReadRequest, target: ChatTarget): FittedMessages {
  return { target, messages: fitResults(messages, target) }
}

/** Writes a request as chat completions. Throws `UntranslatableError` when they cannot express it. */
export function* toChatRequest(
  read: ReadRequest,
  { target, messages }: FittedMessages,
): Steps<ChatRequest> {
  if (read.problem) throw read.problem
  if (!target.takesFileAddresses) refuseFileAddresses(messages)
  const { request, fields } = read
  const { effort } = fields.reasoning ?? {}
  const { format, verbosity } = fields.text ?? {}
  const proven = yield* mapInSteps(messages, ({ message, proofs = [] }) =>
    addProofs([message], proofs, target),
  )
  yield
  return {
    model: target.model,
    messages: proven.flat(),
    ...pick({
      stream: request.stream || undefined,
      stream_options:
        request.stream && target.asksStreamUsage ? { include_usage: true } : undefined,
      [target.boundField]: boundOutput(request, target),
      temperature: fields.temperature,
      top_p: fields.top_p,
      // Other APIs find the prompt in their caches without a key.
      prompt_cache_key: target.ignoresUnknown ? undefined : fields.prompt_cache_key,
      service_tier: fields.service_tier,
      ...toToolFields(read),
      response_format: toResponseFormat(format),
      reasoning_effort: effort,
      verbosity,
    }),
  }
}

function refuseFileAddresses(messages: readonly MadeMessage[]): void {
  for (const { message, path, parts } of messages) {
    if (typeof message.content === 'string') continue
    const at = message.content?.findIndex(isFileAddress) ?? -1
    if (at < 0) continue
    const place = `${parts[at] ?? path}.file_url`
    const rule = 'the API of this model takes no file by its address; send the data in file_data'
    throw new UntranslatableError(`${place}: ${rule}`, place)
  }
}

/** Lists the fields that a translated request leaves out, as the client's API names them. */
export function listLeftOut({ toolbox, chatTools, leftOut, fields }: ReadRequest): string[] {
  return [
    ...leftOut,
    ...toolbox.vendorRun,
    ...(chatTools.isChoiceDropped ? ['tool_choice'] : []),
    ...(isKnownFormat(fields.text?.format) ? [] : ['text.format']),
  ]
}

function boundOutput(
  { max_output_tokens: asked }: ResponsesRequest,
  { maxOutputTokens }: ChatTarget,
): number | undefined {
  return typeof asked === 'number' ? Math.min(asked, maxOutputTokens ?? asked) : undefined
}

function toToolFields({ chatTools: { tools, choice }, fields }: ReadRequest): object {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(toChatTool),
    tool_choice: typeof choice === 'object' ? { type: 'function', function: choice } : choice,
    parallel_tool_calls: fields.parallel_tool_calls,
  }
}

function toChatTool({ name, description, parameters, isStrict }: OfferedTool): object {
  return {
    type: 'function',
    function: { name, ...pick({ description, parameters }), ...(isStrict && { strict: true }) },
  }
}

type Format = NonNullable<TranslatedFields['text']>['format']

const formats: ReadonlySet<string | undefined> = new Set([
  undefined,
  'text',
  'json_object',
  'json_schema',
])

function isKnownFormat(format: Format): boolean {
  return formats.has(format?.type)
}

function toResponseFormat(format: Format): object | undefined {
  switch (format?.type) {
    case 'json_object':
      return { type: 'json_object' }
    case 'json_schema': {
      const { name, description, schema, strict } = format
      return { type: 'json_schema', json_schema: pick({ name, description, schema, strict }) }
    }
    default:
      return undefined
  }
}

/** Leaves out members that are absent or null. */
function pick(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const name in members) {
    const value = members[name]
    if (value !== undefined && value !== null) given[name] = value
  }
  return given
}
