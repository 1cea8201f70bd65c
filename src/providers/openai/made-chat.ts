import type { ChatCall } from '../../core/chat.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { memoizePerCall, type PerCall } from '../canonical/per-call.ts'
import {
  ChoiceReader,
  type ResolvedProfile,
  type WrittenRequest,
  writeRequest,
} from '../profiles/index.ts'

/** The chat requests that the gateway writes for one model, and the readers of their answers. */
export interface MadeChats {
  /** Writes a request as the profile of the model demands it. */
  readonly write: PerCall<WrittenRequest>
  /** Creates the reader of one answer. */
  createReader(call: ChatCall): ChoiceReader
}

/** `model` is the client-facing id, by which the reasoning that comes back is recognized. */
export function bindMadeChats(
  { profile, lineage }: ResolvedProfile,
  { model }: { readonly model: string },
): MadeChats {
  const recipient = { model, lineage }
  // They stay when the parsed request is dropped, because the answer needs them.
  const namesByCall = new WeakMap<ChatCall, ToolNames>()
  const write = memoizePerCall(function* (call) {
    const written = yield* writeRequest(call.request, { profile, recipient })
    namesByCall.set(call, written.names)
    return written
  })
  return {
    write,
    createReader(call) {
      const names = namesByCall.get(call) ?? write(call).names
      return new ChoiceReader({ profile, maker: recipient, names })
    },
  }
}
