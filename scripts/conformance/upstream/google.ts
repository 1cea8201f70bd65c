import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Answer, Conversation, Part, ToolCall, Turn } from './conversation.ts'
import {
  bracketedPath,
  type Dialect,
  parseBody,
  type Reply,
  sseFrame,
  upstreamKey,
} from './dialect.ts'
import { findSchemaProblem, type JsonSchema } from './json-schema.ts'
import { splitText } from './parts.ts'
import { signText, verifyText } from './proofs.ts'
import { check, Refusal } from './refusal.ts'
import { answer, readScenario } from './scenario.ts'

/** The Gemini API, generation 3: https://ai.google.dev/api/generate-content */
export const google: Dialect = {
  handle({ path, query, headers, body }) {
    const [, model = '', method] =
      /^\/v1beta\/models\/([^:/]+):(generateContent|streamGenerateContent)$/.exec(path) ?? []
    if (!method) throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('x-goog-api-key') !== upstreamKey)
      throw new Refusal(401, 'API key not valid. Please pass a valid API key.')
    const isStream = method === 'streamGenerateContent'
    check(!isStream || query.get('alt') === 'sse', 'only alt=sse is played')
    const request = parseBody(requestSchema, body, bracketedPath)
    const scenario = readScenario(model)
    checkTools(request)
    checkSignatures(request.contents)
    const given = answer(scenario, readConversation(request))
    const thoughts = request.generationConfig?.thinkingConfig?.includeThoughts === true
    const parts = given.parts.filter(({ kind }) => kind !== 'reasoning' || thoughts)
    return isStream
      ? streamReply(model, { ...given, parts })
      : wholeReply(model, { ...given, parts })
  },

  refuse({ status, message, retryAfter }) {
    const retryDelay = `${retryAfter}s`
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }]
    return {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      body: {
        error: {
          code: status,
          message,
          status: statusNames[status] ?? 'INTERNAL',
          ...(retryAfter !== undefined && { details }),
        },
      },
    }
  },
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

const inlineData = z.strictObject({ mimeType: z.string(), data: z.base64() })

const part = z
  .strictObject({
    text: z.string(),
    inlineData,
    fileData: z.strictObject({ fileUri: z.string(), mimeType: z.string().optional() }),
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()).optional(),
    }),
    functionResponse: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.record(z.string(), z.unknown()),
      parts: z.array(z.strictObject({ inlineData })).optional(),
    }),
    thought: z.boolean(),
    thoughtSignature: z.string(),
  })
  .partial()

const content = z.strictObject({
  role: z.enum(['user', 'model']),
  parts: z.array(part).min(1, 'must contain at least one part'),
})

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const declaration = z.strictObject({
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/),
  description: z.string().optional(),
  parameters: schema.optional(),
  parametersJsonSchema: schema.optional(),
})

const requestSchema = z.strictObject({
  contents: z.array(content).min(1, 'contents is not specified'),
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(part).min(1) })
    .optional(),
  tools: z
    .array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) }))
    .min(1)
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
        allowedFunctionNames: z.array(z.string()).min(1).optional(),
      }),
    })
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2),
      topP: z.number().min(0).max(1),
      topK: z.int(),
      candidateCount: z.literal(1),
      maxOutputTokens: z.int().positive(),
      stopSequences: z.array(z.string()).max(5),
      seed: z.int32(),
      responseMimeType: z.enum(['text/plain', 'application/json']),
      responseSchema: schema,
      responseJsonSchema: schema,
      responseModalities: z.array(z.string()),
      responseLogprobs: z.boolean(),
      logprobs: z.int(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean(),
          thinkingBudget: z.int(),
          thinkingLevel: z.string(),
        })
        .partial(),
    })
    .partial()
    .optional(),
  safetySettings: z.array(z.unknown()).optional(),
  serviceTier: z.enum(['standard', 'flex', 'priority']).optional(),
})

type GeminiRequest = z.infer<typeof requestSchema>
type Content = GeminiRequest['contents'][number]

/** The keywords of Google's own schema type: https://ai.google.dev/api/caching#Schema */
const openApiKeywords = new Set(
  (
    'type format title description nullable enum maxItems minItems properties required minProperties ' +
    'maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'
  ).split(' '),
)

function checkTools({ tools, toolConfig, generationConfig }: GeminiRequest): void {
  const declarations = (tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations)
  for (const [index, { parameters, parametersJsonSchema }] of declarations.entries()) {
    const path = `tools[0].functionDeclarations[${index}]`
    check(
      !parameters || !parametersJsonSchema,
      `${path}: parameters and parametersJsonSchema are exclusive`,
    )
    checkSchema(parameters, `${path}.parameters`, openApiKeywords)
    checkSchema(parametersJsonSchema, `${path}.parametersJsonSchema`)
  }
  const names = declarations.map(({ name }) => name)
  const duplicate = names.find((name, index) => names.indexOf(name) < index)
  check(duplicate === undefined, `Duplicate function declaration found: ${duplicate}`)
  const { mode, allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {}
  check(!allowed || mode === 'ANY', 'allowedFunctionNames requires the mode ANY')
  check(
    mode !== 'ANY' || names.length > 0,
    'Function calling config is set without function_declarations.',
  )
  const stray = allowed?.find((name) => !names.includes(name))
  check(stray === undefined, `allowedFunctionNames: '${stray}' is not declared`)
  const { responseSchema, responseJsonSchema, responseMimeType, thinkingConfig } =
    generationConfig ?? {}
  check(
    !responseSchema || !responseJsonSchema,
    'responseSchema and responseJsonSchema are exclusive',
  )
  check(
    (!responseSchema && !responseJsonSchema) || responseMimeType === 'application/json',
    'a response schema requires responseMimeType application/json',
  )
  check(
    thinkingConfig?.thinkingBudget === undefined || thinkingConfig.thinkingLevel === undefined,
    'You can only set one of thinking budget and thinking level.',
  )
  checkSchema(responseSchema, 'generationConfig.responseSchema', openApiKeywords)
  checkSchema(responseJsonSchema, 'generationConfig.responseJsonSchema')
}

function checkSchema(
  given: JsonSchema | undefined,
  path: string,
  keywords?: ReadonlySet<string>,
): void {
  const problem = given && findSchemaProblem(given, keywords ? { keywords } : {})
  check(problem === undefined, `${path}: ${problem}`)
}

/**
 * The first call of every model turn must carry its signature unchanged. Google's placeholder is
 * accepted only for calls of other vendors: this model always signs its own.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
function checkSignatures(contents: readonly Content[]): void {
  for (const [index, { role, parts }] of contents.entries()) {
    for (const { thoughtSignature: signature } of parts) {
      const isKnown = signature === undefined || signature === placeholder || isIntact(signature)
      check(isKnown, `contents[${index}]: Thought signature is not valid.`)
    }
    const first = parts.find(({ functionCall }) => functionCall !== undefined)
    if (role !== 'model' || !first?.functionCall) continue
    const { id, name } = first.functionCall
    const isOwn = id?.startsWith(ownIds) ?? false
    const isSigned = first.thoughtSignature !== undefined
    check(
      isSigned && !(isOwn && first.thoughtSignature === placeholder),
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`${name}\`, position ${index}.`,
    )
  }
}

const placeholder = 'skip_thought_signature_validator'
const ownIds = 'gcall_'
const signedText = 'thoughts'

function isIntact(signature: string): boolean {
  return verifyText(signedText, signature)
}

function readConversation({
  contents,
  tools,
  toolConfig,
  generationConfig,
}: GeminiRequest): Conversation {
  const declarations = (tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations)
  const { mode = 'AUTO', allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {}
  const [only] = allowed ?? []
  const { thinkingConfig, responseSchema, responseJsonSchema } = generationConfig ?? {}
  checkPairs(contents)
  const last = contents.at(-1)
  check(last?.role === 'user', 'Requests ending with a model turn are not supported.')
  return {
    turns: contents.map(toTurn),
    tools: declarations.map(({ name, parameters, parametersJsonSchema }) => ({
      name,
      schema: parametersJsonSchema ?? parameters ?? { type: 'object' },
    })),
    choice: only ? { name: only } : mode === 'ANY' ? 'any' : mode === 'NONE' ? 'none' : 'auto',
    format: responseJsonSchema ?? responseSchema,
    thinks: thinkingConfig?.includeThoughts === true,
  }
}

/** The results of a turn answer the calls of the turn before, by name and by id. */
function checkPairs(contents: readonly Content[]): void {
  for (const [index, { role, parts }] of contents.entries()) {
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    const before = contents[index - 1]
    check(
      calls.length === 0 || (role === 'model' && before?.role === 'user'),
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    )
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
    const asked = (before?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
    check(
      results.length === asked.length,
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
    check(
      results.length === 0 || results.length === parts.length,
      `contents[${index}]: function responses are mixed with other parts`,
    )
    for (const [at, { id, name }] of asked.entries()) {
      const isAnswered = results.some((each) => each.name === name && each.id === id)
      check(isAnswered, `contents[${index}].parts[${at}]: no function response for '${name}' ${id}`)
    }
  }
  const open = contents.at(-1)?.parts.some(({ functionCall }) => functionCall !== undefined)
  check(!open, 'Requests ending with a model turn are not supported.')
}

function toTurn({ role, parts }: Content): Turn {
  const text = parts.flatMap((each) => (each.thought ? [] : (each.text ?? []))).join('\n')
  if (role === 'model') {
    const calls = parts.flatMap(({ functionCall: call }): ToolCall[] =>
      call ? [{ id: call.id ?? '', name: call.name, input: call.args ?? {} }] : [],
    )
    return { role, text, calls }
  }
  const results = parts.flatMap(({ functionResponse: result }) =>
    result ? [{ id: result.id ?? '', text: toResultText(result.response) }] : [],
  )
  return { role, text, results }
}

function toResultText(response: Readonly<Record<string, unknown>>): string {
  const { output } = response
  return typeof output === 'string' ? output : JSON.stringify(response)
}

function wholeReply(model: string, given: Answer): Reply {
  const parts = signParts(given.parts).map(({ part: each, ...proof }) => ({
    ...toPart(each),
    ...proof,
  }))
  return { kind: 'whole', model, body: newResponse(model, given, { parts, isLast: true }) }
}

function streamReply(model: string, given: Answer): Reply {
  const pieces = signParts(given.parts).flatMap(({ part: each, ...proof }) => {
    if (each.kind === 'call') return [{ ...toPart(each), ...proof }]
    const texts = splitText(each.text).map((text) => toPart({ ...each, text }))
    return proof.thoughtSignature ? [...texts, { text: '', ...proof }] : texts
  })
  const frames = pieces.map((piece, index) =>
    sseFrame(newResponse(model, given, { parts: [piece], isLast: index === pieces.length - 1 })),
  )
  return { kind: 'stream', model, contentType: 'text/event-stream', frames }
}

interface SignedPart {
  readonly part: Part
  readonly thoughtSignature?: string
}

/** The first call carries the signature; without calls, the last text does. */
function signParts(parts: readonly Part[]): SignedPart[] {
  const firstCall = parts.findIndex(({ kind }) => kind === 'call')
  const signed = firstCall < 0 ? parts.length - 1 : firstCall
  return parts.map((each, index) => ({
    part: each,
    ...(index === signed && { thoughtSignature: signText(signedText) }),
  }))
}

function toPart(given: Part): object {
  switch (given.kind) {
    case 'reasoning':
      return { text: given.text, thought: true }
    case 'text':
      return { text: given.text }
    case 'call': {
      const id = given.id.replace('call_', ownIds)
      return { functionCall: { id, name: given.name, args: given.input } }
    }
    default:
      return given satisfies never
  }
}

function newResponse(
  model: string,
  { usage }: Answer,
  { parts, isLast }: { readonly parts: readonly object[]; readonly isLast: boolean },
): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output - usage.reasoning,
      ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: randomUUID(),
  }
}
