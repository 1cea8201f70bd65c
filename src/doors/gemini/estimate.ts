import { estimateImageTokens, sumPromptTokens } from '../../tokens/index.ts'
import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import type { RequestProofs } from '../request-proofs.ts'
import {
  type GeminiContent,
  type GeminiPart,
  type GeminiRequest,
  listContents,
  listParts,
} from './schema.ts'
import { isOwnSignature } from './signatures.ts'

/** Estimates a prompt by its bytes, by the rules for chat completions. */
export function estimatePrompt(request: GeminiRequest, proofs: RequestProofs): number {
  const { systemInstruction: system, tools } = request
  const contents = listContents(request)
  const messages = contents.map((content) => measureContent(content, proofs))
  if (typeof system === 'string') messages.push(countUtf8Bytes(system))
  else if (system) messages.push(measureContent(system, proofs))
  const images = contents.flatMap(listParts).filter(isImage).length
  return (
    sumPromptTokens({ messages, tools: (tools ?? []).map(measureJson) }) +
    images * estimateImageTokens({ detail: undefined })
  )
}

/** A vendor's own blocks go to it in place of the message. */
function measureContent(content: GeminiContent, proofs: RequestProofs): number {
  let bytes = countUtf8Bytes(content.role ?? '')
  let blockBytes = 0
  for (const part of listParts(content)) {
    bytes += measurePart(part)
    const { thoughtSignature: signature } = part
    const own = isOwnSignature(signature) ? proofs.read(signature)?.content : undefined
    if (own) blockBytes += countUtf8Bytes(stringifyJson(own))
  }
  return Math.max(bytes, blockBytes)
}

function measurePart(part: GeminiPart): number {
  const { text, functionCall: made, functionResponse: given } = part
  let bytes = countUtf8Bytes(text ?? '')
  if (made) bytes += countUtf8Bytes(made.name ?? '') + measureJson(made.args)
  if (given) bytes += measureJson(given.response)
  for (const name of ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']) {
    if (isObject(part[name])) bytes += measureJson(part[name])
  }
  return bytes
}

/** True for media, which all count as one image: their size in tokens is the vendor's secret. */
export function isImage({ inlineData, fileData }: GeminiPart): boolean {
  return Boolean(inlineData ?? fileData)
}

function measureJson(value: unknown): number {
  return countUtf8Bytes(JSON.stringify(value ?? {}))
}
