/** Response bodies and frames in the OpenAI format. */

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export const usage: Usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }

/** A chat completion with this content. */
export function completion(content = 'Hi', more: object = { usage }): object {
  return {
    id: 'chatcmpl-a1',
    object: 'chat.completion',
    created: 1_764_000_000,
    model: 'upstream-m',
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' },
    ],
    ...more,
  }
}

/** One `data:` event with its blank line. */
export function data(payload: unknown): string {
  return `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`
}

/** A chunk with one choice that has this delta. */
export function chunk(delta: object, more: object = {}, finish: string | null = null): string {
  return makeChunk({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })
}

/** A chunk with these fields and the identity that all chunks share. */
export function makeChunk(fields: object): string {
  return data({
    id: 'chatcmpl-a1',
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: 'upstream-m',
    ...fields,
  })
}

export const role: string = chunk({ role: 'assistant', content: '' })
export const hello: string = chunk({ content: 'Hello' })
export const stop: string = chunk({}, {}, 'stop')
export const usageChunk: string = makeChunk({ choices: [], usage })
export const done: string = data('[DONE]')

/** A complete stream that reports its usage. */
export const wholeStream: string = role + hello + stop + usageChunk + done
