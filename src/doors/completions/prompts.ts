import { invalid } from '../../core/errors.ts'

/** The prompts of one request. */
export interface Prompts {
  readonly count: number
  /** Those that are texts. */
  readonly texts: readonly string[]
  /** The number of token ids in the others. */
  readonly tokenIds: number
}

/** Without a prompt the model begins after the token that separates documents. */
export const noPrompt: Prompts = Object.freeze({ count: 1, texts: [], tokenIds: 1 })

/**
 * Reads `prompt`: a text, token ids, or a list of either. Throws LM-1001 with the path of the item at
 * fault.
 */
export function readPrompts(prompt: unknown): Prompts {
  if (prompt === undefined || prompt === null) return noPrompt
  if (typeof prompt === 'string') return { count: 1, texts: [prompt], tokenIds: 0 }
  if (!Array.isArray(prompt)) {
    throw invalid('prompt: must be a string, or an array of strings or token ids', 'prompt')
  }
  if (prompt.length === 0) throw invalid('prompt: must not be empty', 'prompt')
  if (typeof prompt[0] === 'number') {
    return { count: 1, texts: [], tokenIds: countTokenIds(prompt, 'prompt') }
  }
  return readPromptList(prompt)
}

function readPromptList(prompts: readonly unknown[]): Prompts {
  const texts: string[] = []
  let tokenIds = 0
  for (const [at, prompt] of prompts.entries()) {
    if (typeof prompt === 'string') texts.push(prompt)
    else tokenIds += countTokenIds(prompt, `prompt.${at}`)
  }
  return { count: prompts.length, texts, tokenIds }
}

function countTokenIds(ids: unknown, path: string): number {
  if (!Array.isArray(ids)) {
    throw invalid(`${path}: must be a string or an array of token ids`, path)
  }
  // Fast, because a body may hold millions of them.
  for (let at = 0; at < ids.length; at++) {
    if (Number.isSafeInteger(ids[at]) && ids[at] >= 0) continue
    throw invalid(`${path}.${at}: must be a token id`, `${path}.${at}`)
  }
  return ids.length
}
