import * as z from 'zod'
import { webhookSettings } from '../config/index.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { type AdminRequest, type AdminRouteDeps, type AdminRoutes, readJson } from './input.ts'
import { noContent } from './render.ts'

export interface WebhookRouteDeps extends AdminRouteDeps {
  readonly webhooks: Pick<
    Webhooks,
    'state' | 'put' | 'disable' | 'putSigningKey' | 'deleteSigningKey'
  >
}

/** The routes of the webhook settings and of the signing key. */
export function webhookRoutes(deps: WebhookRouteDeps): AdminRoutes {
  return {
    '/admin/webhooks': {
      GET: () => showState(deps),
      PUT: (matched) => replaceSettings(matched, deps),
      DELETE: (matched) => disableWebhooks(matched, deps),
    },
    '/admin/webhooks/signing-key': {
      PUT: (matched) => putSigningKey(matched, deps),
      DELETE: (matched) => deleteSigningKey(matched, deps),
    },
  }
}

const secretRule = 'must be text of 1 to 4096 characters'

/** The body of `PUT /admin/webhooks/signing-key`. */
export const signingKeyBody = z.strictObject({
  secret: z
    .string({ error: secretRule })
    // A lone surrogate has no UTF-8 bytes to sign with.
    .regex(/^\P{Cs}{1,4096}$/u, { error: secretRule }),
})

/** Never shows the signing key. */
function showState({ webhooks: { state } }: WebhookRouteDeps): Reply {
  return jsonReply({
    enabled: state.enabled,
    source: state.source,
    settings: state.settings,
    signed: state.isSigned,
    signing_key_stored: state.hasStoredKey,
    updated_at: state.updatedAt,
  })
}

async function replaceSettings(matched: AdminRequest, deps: WebhookRouteDeps): Promise<Reply> {
  const { webhooks, audit } = deps
  const settings = await readJson(matched, webhookSettings, deps)
  const entry = audit.describe({ action: 'webhooks.replace', subjectId: null }, matched.context)
  await webhooks.put(settings, entry)
  audit.log(entry)
  return showState(deps)
}

async function disableWebhooks(
  { context }: AdminRequest,
  { webhooks, audit }: WebhookRouteDeps,
): Promise<Reply> {
  const entry = audit.describe({ action: 'webhooks.disable', subjectId: null }, context)
  await webhooks.disable(entry)
  audit.log(entry)
  return noContent
}

async function putSigningKey(matched: AdminRequest, deps: WebhookRouteDeps): Promise<Reply> {
  const { secret } = await readJson(matched, signingKeyBody, deps)
  const { webhooks, audit } = deps
  const entry = audit.describe({ action: 'signing_key.store', subjectId: null }, matched.context)
  await webhooks.putSigningKey(secret, entry)
  audit.log(entry)
  return noContent
}

async function deleteSigningKey(
  { context }: AdminRequest,
  { webhooks, audit }: WebhookRouteDeps,
): Promise<Reply> {
  const entry = audit.describe({ action: 'signing_key.delete', subjectId: null }, context)
  if (await webhooks.deleteSigningKey(entry)) audit.log(entry)
  return noContent
}
