import type { ImagePart } from '../core/chat.ts'

const lowDetail = 85
const otherwise = 765

/** What one image counts in an estimate: 85 tokens at `detail: "low"`, 765 otherwise. */
export function estimateImageTokens({ detail }: Pick<ImagePart, 'detail'>): number {
  return detail === 'low' ? lowDetail : otherwise
}
