import * as z from 'zod'
import type { DecisionForm } from '../../core/decisions.ts'
import type { DecisionCall, RequestHeaders } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import { invalidField, schemaMessages } from '../../core/invalid-field.ts'
import type { ObjectLayout } from '../../core/layout.ts'
import { estimateImageTokens, estimateTextTokens } from '../../tokens/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import type { ArrivedRequest } from '../serve/prepared-request.ts'
import type { SessionCall } from '../serve/session.ts'
import { type DecisionImage, listImages } from './images.ts'

/** A request for decisions that has been read. */
export interface ReadDecisions extends DecisionCall, SessionCall {
  readonly model: string
  readonly images: readonly DecisionImage[]
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number
}

/** Members that the gateway routes and prices by. Each may occur once. */
const unique = ['model', 'stream', 'input', 'state', 'questions', 'images', 'assets'] as const

type Layout = ObjectLayout<(typeof unique)[number]>

/**
 * Reads a request in one of the accepted forms; LM-1001 with the field at fault. The vendors still change their forms,
 * so only what decides the form, the model and the reservation is validated.
 */
export async function readDecisions(
  { bytes, request, slice }: Pick<ArrivedRequest, 'bytes' | 'request' | 'slice'>,
  accepted: readonly DecisionForm[],
): Promise<ReadDecisions> {
  const { value, layout } = await readJsonBody(bytes, { names: unique, unique, timeSlice: slice })
  // The body is an object, whose members are not known.
  const body = value as JsonObject
  const head = headSchema.safeParse(value, schemaMessages)
  if (!head.success) throw invalidField(head.error)
  const form = findForm(body, accepted)
  checkInput(body, form)
  checkQuestions(body, form)
  const images = listImages(body, form)
  await slice.pause()
  return {
    form,
    model: head.data.model,
    bytes,
    layout,
    headers: form === 'typesafe' ? readOwnHeaders(request.headers) : noHeaders,
    images,
    promptTokens: estimatePrompt(layout, images),
    session: readSession(body),
    prefix: undefined,
    cacheLife: layout.cacheLife,
  }
}

/** No vendor streams decisions. */
const headSchema = z.object({
  model: z.string().min(1),
  stream: z.literal(false, { error: 'must not be set: decisions are not streamed' }).nullish(),
})

/** The member with what is to be judged, in each form. */
const inputNames = { openai: 'input', typesafe: 'state' } as const

/** The member with the input shows the form; the path does not, since both vendors' clients use the same one. */
function findForm(body: JsonObject, accepted: readonly DecisionForm[]): DecisionForm {
  const [input, state] = [isGiven(body['input']), isGiven(body['state'])]
  if (input && state) throw invalid('state: must not be sent together with input', 'state')
  if (!input && !state) {
    const names = accepted.map((form) => inputNames[form])
    throw invalid(`${names.join(' or ')} is required`, names[0])
  }
  const form = input ? 'openai' : 'typesafe'
  if (accepted.includes(form)) return form
  throw invalid(
    'input: this path takes state and named questions; send input and a list of questions to /v1/decisions',
    'input',
  )
}

function isGiven(value: unknown): boolean {
  return (value ?? undefined) !== undefined
}

function checkInput(body: JsonObject, form: DecisionForm): void {
  const name = inputNames[form]
  const given = body[name]
  if (typeof given === 'string' || Array.isArray(given)) return
  if (form === 'typesafe' && typeof given === 'object') return
  const types = form === 'openai' ? 'a string or an array' : 'a string, an object or an array'
  throw invalid(`${name}: must be ${types}`, name)
}

function checkQuestions({ questions }: JsonObject, form: DecisionForm): void {
  if (!isGiven(questions)) throw invalid('questions is required', 'questions')
  const isList = Array.isArray(questions)
  if (typeof questions !== 'object' || isList !== (form === 'openai')) {
    const type = form === 'openai' ? 'an array' : 'an object with a member for each question'
    throw invalid(`questions: must be ${type}, as the request has ${inputNames[form]}`, 'questions')
  }
  if (Object.keys(questions as object).length === 0) {
    throw invalid('questions: must not be empty', 'questions')
  }
}

/**
 * Estimates the prompt: a quarter of the bytes of the input and the questions, without their images, which count as
 * images do in chat.
 */
function estimatePrompt({ spans }: Layout, images: readonly DecisionImage[]): number {
  const texts = [...spans.input, ...spans.state, ...spans.questions]
  const bytes = texts.reduce((sum, { start, end }) => sum + end - start, 0)
  const ofImages = images.reduce((sum, { textLength }) => sum + textLength, 0)
  const tokens = images.reduce((sum, image) => sum + estimateImageTokens(image), 0)
  return estimateTextTokens(Math.max(0, bytes - ofImages)) + tokens
}

function readSession({ prompt_cache_key: key }: JsonObject): string | undefined {
  return typeof key === 'string' && key !== '' ? key : undefined
}

const noHeaders: RequestHeaders = Object.freeze({})

/**
 * Returns the headers that turn on what TypeSafe tries out, such as images and long prompts:
 * https://github.com/BerriAI/litellm/blob/main/litellm/llms/typesafe/decisions/transformation.py
 */
function readOwnHeaders(headers: Headers): RequestHeaders {
  const own: Record<string, string> = {}
  headers.forEach((value, name) => {
    if (/^typesafe-/i.test(name)) own[name.toLowerCase()] = value
  })
  return own
}
