import { findSchemaProblem, type JsonSchema } from '../json-schema.ts'
import { check } from '../refusal.ts'
import type { Content, GeminiRequest } from './request.ts'

/** Checks what the schema of a request can not express. */
export function checkRequest(request: GeminiRequest): void {
  checkTools(request)
  checkFormat(request)
  checkPairs(request.contents)
  const { thinkingBudget: budget, thinkingLevel: level } =
    request.generationConfig?.thinkingConfig ?? {}
  const hasOne = budget === undefined || level === undefined
  check(hasOne, 'You can only set one of thinking budget and thinking level.')
}

/** The keywords of Google's own schema type: https://ai.google.dev/api/caching#Schema */
const openApiKeywords = new Set(
  (
    'type format title description nullable enum maxItems minItems properties required minProperties ' +
    'maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'
  ).split(' '),
)

export function listDeclarations({ tools = [] }: GeminiRequest) {
  return tools.flatMap(({ functionDeclarations }) => functionDeclarations)
}

function checkTools(request: GeminiRequest): void {
  const declarations = listDeclarations(request)
  for (const [index, { parameters, parametersJsonSchema }] of declarations.entries()) {
    const path = `tools[0].functionDeclarations[${index}].parameters`
    checkSchemas({ openApi: parameters, json: parametersJsonSchema, path })
  }
  const names = declarations.map(({ name }) => name)
  const duplicate = names.find((name, index) => names.indexOf(name) < index)
  check(duplicate === undefined, `Duplicate function declaration found: ${duplicate}`)
  const config = request.toolConfig?.functionCallingConfig
  if (!config) return
  const { mode, allowedFunctionNames: allowed = [] } = config
  check(allowed.length === 0 || mode === 'ANY', 'allowedFunctionNames requires the mode ANY')
  check(names.length > 0, 'Function calling config is set without function_declarations.')
  const stray = allowed.find((name) => !names.includes(name))
  check(stray === undefined, `allowedFunctionNames: '${stray}' is not declared`)
}

function checkFormat({ generationConfig = {} }: GeminiRequest): void {
  const { responseSchema: openApi, responseJsonSchema: json, responseMimeType } = generationConfig
  if (!openApi && !json) return
  const isJson = responseMimeType === 'application/json'
  check(isJson, 'a response schema requires responseMimeType application/json')
  checkSchemas({ openApi, json, path: 'generationConfig.responseSchema' })
}

interface Schemas {
  readonly openApi: JsonSchema | undefined
  readonly json: JsonSchema | undefined
  readonly path: string
}

/** A schema has one of two forms. */
function checkSchemas({ openApi, json, path }: Schemas): void {
  check(!openApi || !json, `${path}: the two forms of a schema are exclusive`)
  const problem = openApi
    ? findSchemaProblem(openApi, { keywords: openApiKeywords })
    : json && findSchemaProblem(json)
  check(problem === undefined, `${path}: ${problem}`)
}

/**
 * The results of a content answer the calls of the content before it, by name, and by id where they have one:
 * automatic calling in Python's SDK leaves it out.
 */
function checkPairs(contents: readonly Content[]): void {
  for (const [index, { role, parts }] of contents.entries()) {
    const before = contents[index - 1]
    const hasCalls = listCalls(parts).length > 0
    check(
      !hasCalls || (role === 'model' && before?.role === 'user'),
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    )
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
    const calls = listCalls(before?.parts ?? [])
    check(
      results.length === calls.length,
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
    // Gemini CLI puts the picture that a tool has read behind the result.
    const others = parts.filter((each) => !each.functionResponse && !each.inlineData)
    const isPure = results.length === 0 || others.length === 0
    check(isPure, `contents[${index}]: function responses are mixed with other parts`)
    for (const { id, name } of calls) {
      const isAnswered = results.some((each) => each.name === name && (each.id ?? id) === id)
      check(isAnswered, `contents[${index}]: no function response for '${name}' ${id}`)
    }
  }
  const isUser = contents.at(-1)?.role === 'user'
  check(isUser, 'Requests ending with a model turn are not supported.')
}

function listCalls(parts: Content['parts']) {
  return parts.flatMap(({ functionCall }) => functionCall ?? [])
}
