import type { TestGateway } from './gateway.ts'
import { json, type Responder } from './scripted-upstream.ts'

/** The usage that the answers of these upstreams report. */
export const textUsage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } as const

/** A text completion as upstreams answer it. */
export function textCompletion(text = ' four', more: object = { usage: textUsage }): object {
  return {
    id: 'cmpl-a1',
    object: 'text_completion',
    created: 1_764_000_000,
    model: 'upstream-m',
    choices: [{ index: 0, text, logprobs: null, finish_reason: 'stop' }],
    ...more,
  }
}

export function textAnswer(text?: string, more?: object): Responder {
  return json(textCompletion(text, more))
}

/** An event of a stream with these members. */
export function textEvent(members: object): string {
  const head = { id: 'cmpl-a1', object: 'text_completion', created: 1_764_000_000 }
  return `data: ${JSON.stringify({ ...head, model: 'upstream-m', ...members })}\n\n`
}

/** An event with the next piece of one choice. */
export function textChunk(text: string, finish: string | null = null, index = 0): string {
  return textEvent({ choices: [{ index, text, logprobs: null, finish_reason: finish }] })
}

export const textUsageEvent: string = textEvent({ choices: [], usage: textUsage })

/** Sends a completion request for model `m`; a text is sent as it is. */
export function complete(
  { get }: Pick<TestGateway, 'get'>,
  body: object | string = {},
  init: RequestInit = {},
): Promise<Response> {
  const object = typeof body === 'string' ? body : { model: 'm', prompt: 'Two and two is', ...body }
  return get('/v1/completions', {
    method: 'POST',
    body: typeof object === 'string' ? object : JSON.stringify(object),
    ...init,
  })
}
