import { extractTexts } from '../../../src/wire/json/text.ts'
import { counts, googleGateway } from '../google/support.ts'
import type { Chance } from './chance.ts'
import { inputsInOrder } from './inputs.ts'
import type { Answer, Vendor } from './vendor.ts'
import { object, proof, RawText, text, written } from './words.ts'

/*
 * Gemini, with and without signatures of calls. Every part comes back in its place, as the vendor asks for.
 * Neighbouring pieces of a stream's text come back as one part if none of them is signed.
 */

interface Part {
  readonly text?: string
  readonly thought?: true
  readonly thoughtSignature?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly functionCall?: Call
  /** Code that the vendor ran, and its result. */
  readonly executableCode?: object
  readonly codeExecutionResult?: object
}

interface Call {
  readonly id?: string
  readonly name: string
  /** JSON text. */
  readonly args: string
}

interface Model {
  readonly upstreamId: string
  readonly hasIds: boolean
}

function createTurn(chance: Chance, { hasIds }: Model, hasMedia: boolean): Part[] {
  const signature = () => ({ thoughtSignature: proof(chance) })
  const thoughts = chance.some(0, 2, (): Part => ({ text: text(chance), thought: true }))
  const texts = chance.some(0, 2, (): Part => ({ text: text(chance) }))
  const images = chance.some(
    0,
    hasMedia && chance.is(0.2) ? 1 : 0,
    (): Part => ({
      inlineData: { mimeType: 'image/png', data: proof(chance) },
      ...(chance.is(0.5) && signature()),
    }),
  )
  const least = texts.length + images.length === 0 ? 1 : 0
  const calls = chance.some(
    least,
    3,
    (at): Part => ({
      functionCall: {
        ...(hasIds && { id: `fc-${chance.below(1e9)}-${at}` }),
        name: 'f',
        args: object(chance),
      },
      ...(at === 0 && hasIds && signature()),
    }),
  )
  const last = texts.at(-1)
  const signed =
    last && chance.is(0.5) ? [...texts.slice(0, -1), { ...last, ...signature() }] : texts
  const sounds = chance.some(
    0,
    hasMedia && chance.is(0.1) ? 1 : 0,
    (): Part => ({
      inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: proof(chance) },
    }),
  )
  const runs = chance.some(0, chance.is(0.2) ? 2 : 0, (): Part[] => [
    {
      executableCode: { language: 'PYTHON', code: text(chance) },
      ...(chance.is(0.5) && signature()),
    },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: text(chance) } },
  ])
  const said = chance.shuffled([...[...thoughts, ...signed].map((part) => [part]), ...runs])
  const media = [...sounds, ...images]
  // Code may draw, and models may write behind a picture.
  return chance.is(0.2)
    ? [...chance.shuffled([...said.flat(), ...media]), ...calls]
    : [...said.flat(), ...media, ...calls]
}

/** A blocked prompt, with the service's message if there is one. */
function blocked(chance: Chance): Answer {
  const refusal = chance.is(0.5) ? text(chance) : ''
  const whole = JSON.stringify({
    promptFeedback: {
      blockReason: chance.pick(['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT']),
      ...(refusal && { blockReasonMessage: refusal }),
    },
    usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
  })
  const back = refusal === '' ? undefined : [{ text: refusal }]
  return {
    whole,
    stream: new TextEncoder().encode(`data: ${whole}\r\n\r\n`),
    shown: { content: '', reasoning: '', refusal, calls: [] },
    // The service's message is the refusal of the answer.
    back,
    proven: back,
    isProvenOtherwise: true,
  }
}

/** Thoughts without signatures at the start prove nothing, if the rest needs no order of its own. */
function toProven(parts: readonly Part[]): Pick<Answer, 'proven' | 'isProvenOtherwise'> {
  const said = parts.slice(parts.findIndex((part) => !(part.thought && isPlain(part))))
  const texts = said.filter(({ text: one, thought }) => one && !thought)
  const calls = said.filter(({ functionCall: call }) => call)
  const isProvenOtherwise =
    texts.length < 2 &&
    [...texts, ...calls].every((part, at) => part === said[at]) &&
    texts.length + calls.length === said.length
  return { proven: isProvenOtherwise ? said : parts, isProvenOtherwise }
}

/** Joins the pieces of texts that are not signed. */
function joinPieces(pieces: readonly Part[]): Part[] {
  const parts: Part[] = []
  for (const piece of pieces.filter((part) => !isEmpty(part))) {
    const last = parts.at(-1)
    const isJoined = last && isPlain(last) && isPlain(piece) && last.thought === piece.thought
    if (isJoined) parts.splice(-1, 1, { ...last, text: `${last.text}${piece.text}` })
    else parts.push(piece)
  }
  return parts
}

const isPlain = ({ text: said, thoughtSignature }: Part) =>
  said !== undefined && thoughtSignature === undefined
const isEmpty = (part: Part) => part.text === '' && isPlain(part)

const joinText = (parts: readonly Part[], isThought: boolean) =>
  parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('')

function vendor(name: string, model: Model): Vendor {
  return {
    kind: 'google',
    name,
    contentType: 'text/event-stream',
    takesPictures: model.hasIds,
    takesFailures: true,
    model: 'g',
    gateway: () => googleGateway({ upstreamId: model.upstreamId }),
    answer(chance, { isStreamed, hasMedia }) {
      if (chance.is(0.05)) return blocked(chance)
      const parts = createTurn(chance, model, hasMedia)
      const streamed = toPieces(parts, chance)
      const back = isStreamed ? joinPieces(streamed) : parts
      return {
        whole: written(response(parts, { finishReason: 'STOP' }), chance.is(0.5) ? 2 : undefined),
        stream: new TextEncoder().encode(toEvents(streamed, chance).join('')),
        shown: {
          content: joinText(parts, false),
          reasoning: joinText(parts, true),
          calls: parts.flatMap(({ functionCall: call }) =>
            call ? [{ name: call.name, arguments: call.args }] : [],
          ),
        },
        back,
        ...toProven(back),
      }
    },
    readText: (turn) => joinText(turn as readonly Part[], false),
    turns(body) {
      const args = extractTexts(body, 'contents.*.parts.*.functionCall.args')
      return parseContents(body).flatMap(({ role, parts }, c) =>
        role === 'model'
          ? [
              parts.map(({ functionCall: call, ...part }, p) => {
                if (!call) return part
                const given = args.get(`contents.${c}.parts.${p}.functionCall.args`)
                return { ...part, functionCall: { ...call, args: given } }
              }),
            ]
          : [],
      )
    },
    inputs(body) {
      // Without ids, results are matched to calls by their order.
      return inputsInOrder(
        splitTurns(parseContents(body)).map((parts) => ({
          calls: parts
            .flatMap(({ functionCall: call }) => (call ? [call] : []))
            .map(({ id }, at) => id ?? `${at}`),
          results: parts
            .flatMap(({ functionResponse: result }) => (result ? [result] : []))
            .map(({ id, response: { output, error }, parts: media }, at) => ({
              id: id ?? `${at}`,
              input: {
                text: error ?? output ?? '',
                png: media?.[0]?.inlineData?.data,
                hasFailed: error !== undefined,
              },
            })),
          said: parts.flatMap(({ text: said, role }) => (role === 'user' ? (said ?? []) : [])),
        })),
      )
    },
  }
}

interface SentPart extends Part {
  readonly functionResponse?: {
    readonly id?: string
    readonly response: { readonly output?: string; readonly error?: string }
    readonly parts?: readonly Part[]
  }
}

interface Content {
  readonly role: string
  readonly parts: readonly SentPart[]
}

function parseContents(body: string): readonly Content[] {
  return (JSON.parse(body) as { contents: Content[] }).contents
}

/** Splits contents into turns; results have their own content before the user's. */
function splitTurns(contents: readonly Content[]): (SentPart & { readonly role: string })[][] {
  const turns: (SentPart & { readonly role: string })[][] = []
  let latest = ''
  for (const { role, parts } of contents) {
    if (role !== latest) turns.push([])
    latest = role
    turns.at(-1)?.push(...parts.map((part) => ({ ...part, role })))
  }
  return turns
}

function response(parts: readonly Part[], candidate: object): object {
  const raw = parts.map(({ functionCall: call, ...part }) =>
    call ? { ...part, functionCall: { ...call, args: new RawText(call.args) } } : part,
  )
  return {
    candidates: [{ content: { role: 'model', parts: raw }, index: 0, ...candidate }],
    usageMetadata: counts,
    responseId: 'r-1',
  }
}

/** Streams texts in pieces; a signature comes with the last piece or in an empty text after it. */
function toPieces(parts: readonly Part[], chance: Chance): Part[] {
  return parts.flatMap((part): Part[] => {
    const { text: said, thoughtSignature, ...others } = part
    if (said === undefined) return [part]
    const texts = chance.pieces(said).map((piece): Part => ({ text: piece, ...others }))
    if (thoughtSignature === undefined) return texts
    if (chance.is(0.5)) return [...texts, { text: '', thoughtSignature }]
    return [
      ...texts.slice(0, -1),
      ...texts.slice(-1).map((last) => ({ ...last, thoughtSignature })),
    ]
  })
}

function toEvents(pieces: readonly Part[], chance: Chance): string[] {
  const ending = chance.is(0.5) ? [{ text: '' }] : []
  const all = [...pieces, ...ending]
  const events: Part[][] = []
  for (const piece of all) {
    if (events.length === 0 || chance.is(0.7)) events.push([])
    events.at(-1)?.push(piece)
  }
  return events.map((together, at) => {
    const isLast = at === events.length - 1
    return `data: ${written(response(together, isLast ? { finishReason: 'STOP' } : {}))}\r\n\r\n`
  })
}

export const gemini2: Vendor = vendor('google, before signatures', {
  upstreamId: 'gemini-2.5-flash',
  hasIds: false,
})

export const gemini3: Vendor = vendor('google, with signatures', {
  upstreamId: 'gemini-3-flash-preview',
  hasIds: true,
})
