import * as z from 'zod'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { SealedRow, Store } from '../store/index.ts'
import { tryParseJson } from '../wire/json/parse.ts'
import { SealError, type Sealer } from '../wire/seal.ts'
import { type AdminRequest, type AdminRouteDeps, type AdminRoutes, readJson } from './input.ts'
import { noContent } from './render.ts'

export interface ProviderKeyRouteDeps extends AdminRouteDeps {
  readonly store: Pick<Store, 'readSealed' | 'audited'>
  readonly sealer: Sealer
  /** The names of the configured providers. */
  readonly providers: () => Iterable<string>
  /** Rebuilds the running configuration with the stored keys. */
  readonly reload: () => Promise<unknown>
}

const purpose = 'provider-key'

/**
 * The routes of the provider keys in the database. A stored key applies when the provider names no
 * environment variable, or one that is unset or empty. No route ever shows a key.
 */
export function providerKeyRoutes(deps: ProviderKeyRouteDeps): AdminRoutes {
  return {
    // A name may hold slashes.
    '/admin/provider-keys/:name+': {
      PUT: (matched) => putProviderKey(matched, deps),
      DELETE: (matched) => deleteProviderKey(matched, deps),
    },
  }
}

/** A stored key was altered, or sealed under another master key. */
export class LockedProviderKeyError extends Error {
  override readonly name = 'LockedProviderKeyError'

  constructor(provider: string) {
    super(`the stored key of provider ${provider} cannot be decrypted`)
  }
}

/**
 * Returns every stored key by the name of its provider. Rejects with a `StoreFault` or a
 * `LockedProviderKeyError` when one cannot be read or decrypted.
 */
export async function openProviderKeys(
  store: Pick<Store, 'readSealed'>,
  sealer: Sealer,
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.readSealed(purpose)
  const open = async ({ name, sealed }: SealedRow) => {
    const key = await sealer.open({ purpose, name }, sealed).catch((error: unknown) => {
      throw error instanceof SealError ? new LockedProviderKeyError(name) : error
    })
    return [name, key] as const
  }
  return new Map(await Promise.all(rows.map(open)))
}

const keyRule = 'must be printable ASCII without blanks at either end, or a JSON object'

/** The body of `PUT /admin/provider-keys/{name}`. */
export const providerKeyBody = z.strictObject({
  key: z
    .string({ error: keyRule })
    .max(65_536, { error: 'must not be longer than 65536 characters', abort: true })
    .refine((key) => plain.test(key) || isJsonObject(key), { error: keyRule }),
})

/** A valid header value. A copied line end would break every request to the provider. */
const plain = /^[\x21-\x7e]+(?: +[\x21-\x7e]+)*$/

/** Some credentials are JSON documents, such as those of service accounts. */
function isJsonObject(key: string): boolean {
  const value = tryParseJson(key)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function putProviderKey(matched: AdminRequest, deps: ProviderKeyRouteDeps): Promise<Reply> {
  const { store, sealer, clock, audit, reload } = deps
  const { name = '' } = matched.params
  if (!isConfigured(name, deps)) throw unknownProvider()
  const { key } = await readJson(matched, providerKeyBody, deps)
  const sealed = await sealer.seal({ purpose, name }, key)
  const entry = audit.describe({ action: 'provider_key.store', subjectId: name }, matched.context)
  const updatedAt = unixSeconds(clock)
  await store.audited(entry).putSealed({ purpose, name, sealed, updatedAt })
  audit.log(entry)
  await reload()
  return noContent
}

/** Also accepts a provider that is no longer configured, as long as its key is stored. */
async function deleteProviderKey(
  { params, context }: AdminRequest,
  deps: ProviderKeyRouteDeps,
): Promise<Reply> {
  const { store, audit, reload } = deps
  const { name = '' } = params
  const rows = await store.readSealed(purpose)
  const isStored = rows.some((row) => row.name === name)
  if (!isStored && !isConfigured(name, deps)) throw unknownProvider()
  const entry = audit.describe({ action: 'provider_key.delete', subjectId: name }, context)
  if (await store.audited(entry).deleteSealed(purpose, name)) audit.log(entry)
  await reload()
  return noContent
}

function isConfigured(name: string, { providers }: ProviderKeyRouteDeps): boolean {
  return [...providers()].includes(name)
}

function unknownProvider(): GatewayError {
  return invalid('no provider with this name is configured', 'name')
}
