import type { ChatRequest } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { MadeMessage } from '../made-message.ts'
import type { ChatTarget } from '../translated-link.ts'
import { type ConversationOptions, toChatMessages } from './chat-messages.ts'
import { choicePath, toChatTools } from './chat-tools.ts'
import { toJsonSchema } from './json-schema.ts'
import {
  checkPart,
  type GeminiRequest,
  type GenerationConfig,
  listContents,
  listParts,
  schemaObject,
  toNumber,
} from './schema.ts'

/** A request as chat completions. */
export interface WrittenChat {
  readonly chat: ChatRequest
  readonly places: ChatPlaces
}

/** Where the parts of a chat request come from. */
export interface ChatPlaces {
  readonly messages: readonly Pick<MadeMessage, 'path' | 'parts' | 'calls'>[]
  /** The path of each tool. */
  readonly tools: readonly string[]
  /** The paths of what is not in the chat request. */
  readonly dropped: readonly string[]
}

export interface WriteOptions extends ConversationOptions {
  readonly isStream: boolean
}

/** Writes a request as chat completions. Throws `UntranslatableError` for one that no chat request can express. */
export function* writeChat(request: GeminiRequest, options: WriteOptions): Steps<WrittenChat> {
  const { target, isStream } = options
  if (request.cachedContent) {
    const rule = 'only Google has the content; send it in the request'
    throw new UntranslatableError(`cachedContent: ${rule}`, 'cachedContent')
  }
  const config = request.generationConfig ?? {}
  const placed = yield* toChatMessages(request, options)
  yield
  const tools = yield* toChatTools(request)
  const format = yield* toFormat(config)
  yield
  const chat = {
    model: target.model,
    messages: placed.map(({ message }) => message),
    ...toBound(config, target),
    ...(isStream && {
      stream: true,
      ...(target.asksStreamUsage && { stream_options: { include_usage: true } }),
    }),
    ...toSampling(config, target),
    ...toThinking(config),
    ...format.fields,
    ...(config.responseModalities && toModalities(config.responseModalities)),
    ...toTier(request),
    ...tools.fields,
  }
  return {
    chat,
    places: {
      messages: placed.map(({ path, parts, calls }) => ({ path, parts, calls })),
      tools: tools.paths,
      dropped: [...listDropped(request, config), ...format.dropped, ...tools.dropped],
    },
  }
}

function toBound(config: GenerationConfig, { boundField, maxOutputTokens }: ChatTarget): object {
  const bound = toNumber(config.maxOutputTokens)
  if (bound === undefined) return {}
  return { [boundField]: Math.min(bound, maxOutputTokens ?? bound) }
}

function toSampling(config: GenerationConfig, { takesTopK }: ChatTarget): object {
  const { stopSequences: stop, topK } = config
  const seed = toNumber(config.seed)
  const choices = toNumber(config.candidateCount)
  return {
    ...withValue('temperature', toNumber(config.temperature)),
    ...withValue('top_p', toNumber(config.topP)),
    ...(takesTopK && withValue('top_k', toNumber(topK))),
    ...(stop && stop.length > 0 && { stop }),
    ...withValue('seed', seed),
    ...(config.responseLogprobs && {
      logprobs: true,
      ...withValue('top_logprobs', toNumber(config.logprobs)),
    }),
    ...withValue('presence_penalty', toNumber(config.presencePenalty)),
    ...withValue('frequency_penalty', toNumber(config.frequencyPenalty)),
    // Nothing is 0 in protocol buffers.
    ...(choices !== undefined && choices > 1 && { n: choices }),
  }
}

function withValue(name: string, value: unknown): object {
  return value === undefined || value === null ? {} : { [name]: value }
}

/** What the client wants of thinking, for the kind of the link to say in its vendor's words. */
function toThinking({ thinkingConfig }: GenerationConfig): object {
  const { thinkingLevel: level } = thinkingConfig ?? {}
  const budget = toNumber(thinkingConfig?.thinkingBudget)
  if (typeof level === 'string' && level !== '' && !/unspecified$/i.test(level))
    return { reasoning_effort: level.toLowerCase() }
  if (budget === undefined || budget < 0) return {}
  return {
    thinking: budget === 0 ? { type: 'disabled' } : { type: 'enabled', budget_tokens: budget },
  }
}

function toTier({ serviceTier: tier }: GeminiRequest): object {
  return tier && !/^unspecified$/i.test(tier) ? { service_tier: tier.toLowerCase() } : {}
}

interface WrittenFormat {
  readonly fields: object
  readonly dropped: readonly string[]
}

function* toFormat(config: GenerationConfig): Steps<WrittenFormat> {
  const { type, schema, place } = readFormat(config)
  if (!type || type === 'text/plain') return { fields: {}, dropped: [] }
  if (type !== 'application/json') return { fields: {}, dropped: [`${settings}${place}`] }
  if (schema === undefined || schema === null) {
    return { fields: { response_format: { type: 'json_object' } }, dropped: [] }
  }
  const written = yield* toJsonSchema(checkPart(schemaObject, schema, `${settings}${place}`))
  const format = { type: 'json_schema', json_schema: { name: 'response', schema: written } }
  return { fields: { response_format: format }, dropped: [] }
}

const settings = 'generationConfig.'

interface AskedFormat {
  readonly type: string | undefined
  readonly schema: unknown
  /** The member that asks for it. */
  readonly place: string
}

/** Reads the newest form, in which words name the type, before the older ones. */
function readFormat(config: GenerationConfig): AskedFormat {
  const { responseMimeType: type } = config
  const at = config.responseFormat?.findIndex(({ text }) => text) ?? -1
  const { mimeType, schema } = config.responseFormat?.[at]?.text ?? {}
  if (at >= 0) {
    const isJson = schema !== undefined && schema !== null
    const word = mimeType ?? (isJson ? 'application/json' : undefined)
    return { type: toMediaType(word), schema, place: `responseFormat.${at}.text` }
  }
  const place = schemaNames.find((name) => config[name] !== undefined && config[name] !== null)
  return {
    type: type ?? undefined,
    schema: place && config[place],
    place: place ?? 'responseMimeType',
  }
}

const schemaNames = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema'] as const

/** `APPLICATION_JSON` is `application/json`. */
function toMediaType(word: string | number | undefined): string | undefined {
  return typeof word === 'string' ? word.toLowerCase().replace('_', '/') : undefined
}

/** The modalities by their numbers: https://ai.google.dev/api/generate-content#Modality */
const modalities = ['', 'text', 'image', 'audio']

function toModalities(given: readonly (string | number)[]): object {
  const names = given.map((one) =>
    typeof one === 'number' ? (modalities[one] ?? '') : one.toLowerCase(),
  )
  return names.every((name) => name === 'text') ? {} : { modalities: names.filter(Boolean) }
}

/** What only Google's APIs have, by the names of the members. */
const ownMembers = ['safetySettings', 'labels', 'store'] as const
const ownSettings = [
  'speechConfig',
  'mediaResolution',
  'imageConfig',
  'audioTimestamp',
  'enableEnhancedCivicAnswers',
] as const

function listDropped(request: GeminiRequest, config: GenerationConfig): readonly string[] {
  const { toolConfig } = request
  const level = config.thinkingConfig?.thinkingLevel
  return [
    ...ownMembers.filter((name) => isSaying(request[name])),
    ...ownSettings.filter((name) => isSaying(config[name])).map((name) => `${settings}${name}`),
    ...(config.responseLogprobs || !isSaying(config.logprobs) ? [] : [`${settings}logprobs`]),
    ...(typeof level === 'number' && level > 0 ? [`${settings}thinkingConfig.thinkingLevel`] : []),
    ...ownToolSettings
      .filter((name) => isSaying(toolConfig?.[name]))
      .map((name) => `toolConfig.${name}`),
    ...listContents(request).flatMap((content, index) =>
      listParts(content).flatMap((part, at) =>
        ownParts
          .filter((name) => isSaying(part[name]))
          .map((name) => `contents.${index}.parts.${at}.${name}`),
      ),
    ),
  ]
}

/** What steers the tools that run at Google. */
const ownToolSettings = ['includeServerSideToolInvocations', 'retrievalConfig'] as const

/** What narrows a part of media. */
const ownParts = ['videoMetadata', 'mediaProcessing', 'mediaResolution'] as const

/** Clients send empty lists and objects with each request. */
function isSaying(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** Returns the path in a request of what is at a path of the chat request written for it. */
export function locatePath(path: string, { messages, tools }: ChatPlaces): string {
  const [field = '', index, ...rest] = path.split('.')
  switch (field) {
    case 'messages': {
      const place = messages[Number(index)]
      if (!place) return 'contents'
      const at = Number(rest[1])
      if (rest[0] === 'content') return place.parts[at] ?? place.path
      return rest[0] === 'tool_calls' ? (place.calls[at] ?? place.path) : place.path
    }
    case 'tools': {
      const inner = rest[0] === 'function' ? rest.slice(1) : rest
      // The mode makes all functions strict.
      if (inner[0] === 'strict') return `${choicePath}.mode`
      return [tools[Number(index)] ?? 'tools', ...inner].join('.')
    }
    case 'tool_choice':
      return choicePath
    default:
      return `${names[field] ?? field}`
  }
}

const names: Readonly<Record<string, string>> = {
  max_tokens: 'generationConfig.maxOutputTokens',
  max_completion_tokens: 'generationConfig.maxOutputTokens',
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  logprobs: 'generationConfig.responseLogprobs',
  top_logprobs: 'generationConfig.logprobs',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  n: 'generationConfig.candidateCount',
  presence_penalty: 'generationConfig.presencePenalty',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  reasoning_effort: 'generationConfig.thinkingConfig.thinkingLevel',
  thinking: 'generationConfig.thinkingConfig.thinkingBudget',
  response_format: 'generationConfig.responseSchema',
  modalities: 'generationConfig.responseModalities',
  service_tier: 'serviceTier',
  web_search_options: 'tools',
}
