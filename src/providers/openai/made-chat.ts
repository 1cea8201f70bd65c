import type { ChatCall, ChatRequest } from '../../core/chat.ts'
import {
  ChoiceReader,
  nameTools,
  type ResolvedProfile,
  type WrittenRequest,
  writeRequest,
} from '../profiles/index.ts'

/** The chat requests that the gateway writes for one model, and the readers of their answers. */
export interface MadeChats {
  /** Writes a request as the profile of the model demands it. */
  write(call: ChatCall): WrittenRequest
  /** Creates the reader of one answer. */
  createReader(call: ChatCall): ChoiceReader
}

/** `model` is the client-facing id, by which the reasoning that comes back is recognized. */
export function bindMadeChats(
  { profile, lineage }: ResolvedProfile,
  { model }: { readonly model: string },
): MadeChats {
  const recipient = { model, lineage }
  const written = new WeakMap<ChatRequest, WrittenRequest>()
  return {
    write({ request }) {
      const known = written.get(request)
      if (known) return known
      const made = writeRequest(request, { profile, recipient })
      written.set(request, made)
      return made
    },
    createReader: ({ request }) =>
      new ChoiceReader({ profile, maker: recipient, names: nameTools(request, profile) }),
  }
}
