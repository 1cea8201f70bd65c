import { runInSteps } from '../core/steps.ts'
import type { LinkCall } from '../data-plane/index.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import type { ParsedBody } from './parsed-body.ts'

export interface Preparation {
  readonly body: Pick<ParsedBody<object>, 'parseInSteps'>
  readonly slice: TimeSlice
}

/** Parses a heavy request and translates it for a link, in steps. */
export async function prepareLink(link: LinkCall, { body, slice }: Preparation): Promise<void> {
  const parsing = body.parseInSteps(slice)
  if (parsing) await parsing
  await slice.pause()
  if (link.translateInSteps) await runInSteps(link.translateInSteps(), () => slice.pause())
}
