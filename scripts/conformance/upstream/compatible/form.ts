import { type AnswerForm, openAiForm, type Said } from '../openai/answer.ts'
import { signCall, signThoughts } from '../proofs.ts'

/** Thoughts in a member of the message, beside its content. */
export function toMemberForm(name: string): AnswerForm {
  return {
    ...openAiForm,
    message: ({ text, thoughts }) => ({
      content: text || null,
      ...(thoughts && { [name]: thoughts }),
    }),
    thought: (piece) => ({ [name]: piece }),
  }
}

/**
 * Thoughts as chunks of the content: https://docs.mistral.ai/capabilities/reasoning. A delta has whole calls, and a
 * message no `refusal`: https://github.com/mistralai/client-ts/tree/main/src/models/components
 */
export const chunkForm: AnswerForm = {
  message: ({ text, thoughts }) =>
    thoughts
      ? { content: [toChunk(thoughts), ...(text ? [{ type: 'text', text }] : [])] }
      : { content: text },
  thought: (piece) => ({ content: [toChunk(piece)] }),
  text: (piece) => ({ content: piece }),
  hasRefusal: false,
  hasWholeCalls: true,
  hasDone: true,
}

function toChunk(thoughts: string): object {
  return { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }
}

export interface DetailsFormat {
  /** The value of `format` in each entry. */
  readonly format: string
  /** The proof: an entry of its own, or a signature of the text. */
  readonly proof: 'encrypted' | 'signature' | 'none'
}

/**
 * Thoughts as entries of `reasoning_details`:
 * https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
 */
export function toDetailsForm({ format, proof }: DetailsFormat): AnswerForm {
  const entry = (text: string) => ({ type: 'reasoning.text', text, format, index: 0 })
  const prove = ({ thoughts, calls }: Said): readonly object[] => {
    if (proof === 'encrypted' && calls[0])
      return [{ type: 'reasoning.encrypted', data: signCall(), id: calls[0].id, format, index: 1 }]
    if (proof === 'signature' && thoughts)
      return [{ ...entry(''), signature: signThoughts(thoughts, false) }]
    return []
  }
  return {
    ...openAiForm,
    message(said) {
      const { text, thoughts } = said
      const signed = proof === 'signature' && { signature: signThoughts(thoughts, false) }
      const details = [
        ...(thoughts ? [{ ...entry(thoughts), ...signed }] : []),
        ...(proof === 'encrypted' ? prove(said) : []),
      ]
      return {
        content: text || null,
        ...(thoughts && { reasoning: thoughts }),
        ...(details.length > 0 && { reasoning_details: details }),
      }
    },
    thought: (piece) => ({ reasoning: piece, reasoning_details: [entry(piece)] }),
    proof(said) {
      const details = prove(said)
      return details.length > 0 ? { reasoning_details: details } : undefined
    },
  }
}
