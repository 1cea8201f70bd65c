import type { Answer } from '../conversation.ts'
import { bracketedPath, type Dialect, parseBody, upstreamKey } from '../dialect.ts'
import { isRecord, type JsonSchema } from '../json-schema.ts'
import { streamReply, wholeReply } from '../openai/answer.ts'
import { readConversation } from '../openai/conversation.ts'
import { isThoughtCall } from '../proofs.ts'
import { Refusal } from '../refusal.ts'
import { answer, readScenario } from '../scenario.ts'
import { isInstruction, listCalls } from './find.ts'
import { type Body, bodySchema } from './request.ts'
import { findFault, type Rule } from './rule.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** Serves what keeps the rules of an upstream, and refuses the rest with its words. */
export function toDialect(upstream: CompatibleUpstream): Dialect {
  return {
    handle({ path, headers, body: given }) {
      if (!path.endsWith('/chat/completions')) throw new Refusal(404, `unknown path ${path}`)
      if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
        throw new Refusal(401, 'incorrect API key provided')
      const body = parseBody(bodySchema, given, bracketedPath)
      const scenario = readScenario(body.model)
      const faults = checkRules(upstream.rules, body)
      const conversation = readConversation(body, upstream.thinks(body))
      const format = conversation.format ?? findFormat(body)
      const answered = renameCalls(answer(scenario, { ...conversation, format }), body, upstream)
      const write = body.stream ? streamReply : wholeReply
      return { ...write(body, answered, upstream.form(body)), ...faults }
    },

    refuse(refusal) {
      const { status, message, retryAfter, details } = refusal
      const type = status < 500 ? 'invalid_request_error' : 'server_error'
      const code = status === 429 ? 'rate_limit_exceeded' : null
      const error = { message, type, param: null, code, ...details }
      return {
        status,
        ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
        body: upstream.toError?.(refusal) ?? { error },
      }
    },
  }
}

/** Throws what the upstream refuses. Returns the faults of a request that it serves. */
function checkRules(rules: readonly Rule[], body: Body) {
  let lacksProof = false
  let misread: string | undefined
  for (const rule of rules) {
    const fault = findFault(rule, body)
    if (fault === undefined) continue
    if (rule.effect === 'misread') misread ??= fault
    else if (rule.effect === 'lost-proof') lacksProof = true
    else throw refuse(rule, fault)
  }
  return { ...(lacksProof && { lacksProof }), ...(misread !== undefined && { misread }) }
}

function refuse({ status = 400, code }: Rule, words: string): Refusal {
  return new Refusal(status, words, code === undefined ? {} : { details: { code } })
}

/** Models read a schema in their instructions too, where the upstream has no field for it. */
function findFormat({ messages }: Body): JsonSchema | undefined {
  for (const { role, content } of messages) {
    if (!isInstruction(role) || typeof content !== 'string') continue
    const [json] = /\{.*\}/s.exec(content) ?? []
    const schema = json === undefined ? undefined : tryParse(json)
    // An object with a type is a schema, as far as instructions hold JSON.
    if (isRecord(schema) && 'type' in schema) return schema as JsonSchema
  }
  return undefined
}

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function renameCalls(given: Answer, { messages }: Body, { toId }: CompatibleUpstream): Answer {
  if (!toId) return given
  let count = messages.flatMap(listCalls).length
  const parts = given.parts.map((part) => {
    if (part.kind !== 'call') return part
    const id = toId({ name: part.name, count, isThought: isThoughtCall(part.id) })
    count++
    return { ...part, id }
  })
  return { ...given, parts }
}
