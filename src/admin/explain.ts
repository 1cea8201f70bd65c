import * as z from 'zod'
import { parseKeyId } from '../auth/index.ts'
import { type Authenticator, noAuth } from '../core/admission.ts'
import { invalid } from '../core/errors.ts'
import type { Explain } from '../core/explain.ts'
import type { KeyId } from '../core/ids.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import { type AdminRequest, type AdminRoutes, type BodyOptions, readJsonMembers } from './input.ts'

export interface ExplainRouteDeps extends BodyOptions {
  readonly explain: Explain
  /** Returns what lets requests in as those of a key; undefined for an unknown or deleted key. */
  readonly findSender: (id: KeyId) => Authenticator | undefined
}

/** The route that explains a request. It changes nothing, so it leaves no audit row. */
export function explainRoutes(deps: ExplainRouteDeps): AdminRoutes {
  return { '/admin/explain': { POST: (matched) => explainOne(matched, deps) } }
}

const pathRule = 'must be a path like /v1/chat/completions, of at most 2,048 characters'

const sessionRule = 'must be 1 to 1,024 printable ASCII characters without blanks, or null'

/** No header that the gateway reads is longer. */
const maxMetadata = 4096
const metadataRule = `must be an object of texts, numbers and booleans, of at most ${maxMetadata} characters, or null`

/** The body of `POST /admin/explain`. */
export const explainBody = z.strictObject({
  path: z.string({ error: pathRule }).regex(/^\/[\x21-\x7e]{0,2047}$/, { error: pathRule }),
  body: z.unknown(),
  key_id: z.string({ error: 'must be the id of a key, or null' }).nullish(),
  session: z
    .string({ error: sessionRule })
    .regex(/^[\x21-\x7e]{1,1024}$/, { error: sessionRule })
    .nullish(),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]), { error: metadataRule })
    .refine((given) => JSON.stringify(given).length <= maxMetadata, { error: metadataRule })
    .nullish(),
})

async function explainOne(matched: AdminRequest, deps: ExplainRouteDeps): Promise<Reply> {
  const { value, members } = await readJsonMembers(matched, explainBody, deps)
  const { path, key_id: keyId, session, metadata } = value
  // The bytes themselves: an upstream that speaks the client's API gets them unchanged.
  const body = members.body
  if (!body) throw invalid('body: is required', 'body')
  const authenticator = findSender(keyId ?? undefined, deps)
  const text = await deps.explain({
    path,
    body,
    session: session ?? undefined,
    metadata: metadata ? JSON.stringify(metadata) : undefined,
    authenticator,
    origin: matched.context,
  })
  return jsonBytes(new TextEncoder().encode(text))
}

/** Without a key, the sender is one whom no limit stops. */
function findSender(id: string | undefined, deps: ExplainRouteDeps): Authenticator {
  if (id === undefined) return noAuth
  const keyId = parseKeyId(id)
  const sender = keyId && deps.findSender(keyId)
  if (!sender) throw invalid('key_id: no such key, or it was deleted', 'key_id')
  return sender
}
