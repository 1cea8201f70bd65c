import { verifyCall } from '../proofs.ts'
import { check } from '../refusal.ts'
import { toStandardBase64 } from './names.ts'
import type { Content } from './request.ts'

/** The beginning of the ids of this model's calls. */
export const idPrefix = 'gcall_'

/** Google's placeholder for a signature that a client has lost. */
const placeholder = 'skip_thought_signature_validator'

/**
 * The first call of every model turn must carry a signature, and every signature must be intact.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function checkSignatures(contents: readonly Content[]): void {
  for (const [index, { role, parts }] of contents.entries()) {
    for (const { thoughtSignature: signature = placeholder } of parts) {
      const isIntact = signature === placeholder || verifyCall(toStandardBase64(signature))
      check(isIntact, `contents[${index}]: Thought signature is not valid.`)
    }
    const first = parts.find(({ functionCall }) => functionCall !== undefined)
    if (role !== 'model' || !first) continue
    check(
      first.thoughtSignature !== undefined,
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`${first.functionCall?.name}\`, position ${index}.`,
    )
  }
}

/** Whether this model's own signature was lost on its way, which lowers the quality of the answer. */
export function hasPlaceholder(contents: readonly Content[]): boolean {
  return contents
    .flatMap(({ parts }) => parts)
    .some(
      ({ functionCall, thoughtSignature }) =>
        thoughtSignature === placeholder && functionCall?.id?.startsWith(idPrefix),
    )
}
