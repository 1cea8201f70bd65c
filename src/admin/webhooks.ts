import * as z from 'zod'
import { webhookSettings } from '../config/index.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { type AdminRequest, type AdminRouteDeps, type AdminRoutes, readJson } from './input.ts'
import { noContent } from './render.ts'

export interface WebhookRouteDeps extends AdminRouteDeps {
  readonly webhooks: Pick<Webhooks, 'state' | 'put' | 'disable' | 'putKey' | 'forgetKey'>
}

/** The routes of the webhook settings, and of the key that deliveries are signed with. */
export function webhookRoutes(desk: WebhookRouteDeps): AdminRoutes {
  return {
    '/admin/webhooks': {
      GET: () => showState(desk),
      PUT: (matched) => replaceSettings(matched, desk),
      DELETE: (matched) => turnOff(matched, desk),
    },
    '/admin/webhooks/signing-key': {
      PUT: (matched) => replaceKey(matched, desk),
      DELETE: (matched) => forgetKey(matched, desk),
    },
  }
}

const secretRule = 'must be text of 1 to 4096 characters'

const keyBody = z.strictObject({
  secret: z
    .string({ error: secretRule })
    // A lone surrogate has no bytes of its own to sign with.
    .regex(/^\P{Cs}{1,4096}$/u, { error: secretRule }),
})

/** It never holds the secret. */
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

async function replaceSettings(matched: AdminRequest, desk: WebhookRouteDeps): Promise<Reply> {
  await desk.webhooks.put(await readJson(matched, webhookSettings, desk))
  desk.audit({ action: 'webhooks.replace', subjectId: null }, matched.context)
  return showState(desk)
}

async function turnOff({ context }: AdminRequest, desk: WebhookRouteDeps): Promise<Reply> {
  await desk.webhooks.disable()
  desk.audit({ action: 'webhooks.disable', subjectId: null }, context)
  return noContent
}

async function replaceKey(matched: AdminRequest, desk: WebhookRouteDeps): Promise<Reply> {
  const { secret } = await readJson(matched, keyBody, desk)
  await desk.webhooks.putKey(secret)
  desk.audit({ action: 'signing_key.store', subjectId: null }, matched.context)
  return noContent
}

async function forgetKey({ context }: AdminRequest, desk: WebhookRouteDeps): Promise<Reply> {
  await desk.webhooks.forgetKey()
  desk.audit({ action: 'signing_key.delete', subjectId: null }, context)
  return noContent
}
