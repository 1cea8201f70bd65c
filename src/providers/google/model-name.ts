import type { MemberLayout } from '../../core/layout.ts'
import { replaceEach, type Splice } from '../../wire/json/splice.ts'

/** The name of the model as bodies have it, such as `models/gemini-3-pro`. */
export function readModelName({ pathname }: URL): string {
  return pathname.split('/').slice(-2).join('/')
}

/** Where a body names its model, the name must be that of the address. */
export function nameModel({ spans }: MemberLayout<'model'>, json: string): Splice[] {
  return replaceEach(spans.model, json)
}
