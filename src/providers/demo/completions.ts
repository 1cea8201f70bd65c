import * as z from 'zod'
import type { Clock } from '../../core/ports.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { type DemoAnswer, type DemoEvent, rejectRequest } from './answer.ts'
import { greet, splitWords } from './words.ts'

const ids = z.array(z.number())

const demoRequest = z.looseObject({
  model: z.string(),
  prompt: z.union([z.string(), ids, z.array(z.union([z.string(), ids])).max(128)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.number().nullish(),
})

type DemoRequest = z.infer<typeof demoRequest>
type Prompt = string | readonly number[]

interface DemoText {
  readonly index: number
  readonly words: readonly string[]
  readonly finish: 'stop' | 'length'
}

/** Answers a text completion: repeats each prompt. One word, or one token id, counts as one token. */
export function answerCompletion(body: unknown, clock: Clock): DemoAnswer {
  const parsed = demoRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const request = parsed.data
  const prompts = listPrompts(request)
  const texts = prompts
    .flatMap((prompt) => Array.from({ length: request.n ?? 1 }, () => prompt))
    .map((prompt, index) => createText(prompt, index, request))
  const head = {
    id: `cmpl-demo-${crypto.randomUUID()}`,
    object: 'text_completion',
    created: unixSeconds(clock),
    model: request.model,
  }
  const usage = countTokens(prompts, texts)
  if (request.stream) return { status: 200, events: toEvents({ request, texts, head, usage }) }
  const choices = texts.map(({ index, words, finish }) => toChoice(index, words.join(''), finish))
  return { status: 200, json: { ...head, choices, usage } }
}

function listPrompts({ prompt }: DemoRequest): readonly Prompt[] {
  if (typeof prompt === 'string') return [prompt]
  if (prompt === undefined || prompt === null) return ['']
  // The schema allows numbers only when all items are numbers.
  return typeof prompt[0] === 'number' ? [prompt as number[]] : (prompt as Prompt[])
}

function createText(prompt: Prompt, index: number, { max_tokens: limit }: DemoRequest): DemoText {
  const words = splitWords(greet(typeof prompt === 'string' ? prompt : prompt.join(' ')))
  const kept = words.slice(0, limit ?? words.length)
  return { index, words: kept, finish: kept.length < words.length ? 'length' : 'stop' }
}

/** An empty prompt counts as one token: no prompt has 0 tokens. */
function countTokens(prompts: readonly Prompt[], texts: readonly DemoText[]) {
  const count = (prompt: Prompt) =>
    Math.max(1, typeof prompt === 'string' ? splitWords(prompt).length : prompt.length)
  const input = prompts.reduce((sum, prompt) => sum + count(prompt), 0)
  const output = texts.reduce((sum, { words }) => sum + words.length, 0)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

interface DemoStream {
  readonly request: DemoRequest
  readonly texts: readonly DemoText[]
  readonly head: object
  readonly usage: object
}

function toEvents({ request, texts, head, usage }: DemoStream): DemoEvent[] {
  const chunk = (fields: object) => JSON.stringify({ ...head, ...fields })
  const events = texts.flatMap(({ index, words, finish }) => [
    ...words.map((word) => ({
      data: chunk({ choices: [toChoice(index, word, null)] }),
      tokens: 1,
    })),
    { data: chunk({ choices: [toChoice(index, '', finish)] }), tokens: 0 },
  ])
  // A client that did not ask for usage may expect a choice in every chunk.
  const choices = request.stream_options?.include_usage ? [] : [toChoice(0, '', null)]
  const last = { data: chunk({ choices, usage }), tokens: 0 }
  return [...events, last, { data: '[DONE]', tokens: 0 }]
}

function toChoice(index: number, text: string, finish: string | null): object {
  return { index, text, logprobs: null, finish_reason: finish }
}
