import { invalid } from '../core/errors.ts'

/** Deeper nesting is refused: some upstreams' parsers overflow on it. */
const maxDepth = 128

/** Judged before the parse, which takes seconds for millions of nested arrays. */
export function checkDepth({ depth }: { readonly depth: number }): void {
  if (depth > maxDepth) throw invalid(`the request body is nested deeper than ${maxDepth}`)
}
