import { storeUnavailable } from '../../src/access/index.ts'
import {
  createMemoryLedger,
  type GroupEntry,
  type KeyEntry,
  KeyRegistry,
} from '../../src/accounting/index.ts'
import { groupRoutes, keyRoutes, requireMasterKey } from '../../src/admin/index.ts'
import { KeyRing, openMasterKey } from '../../src/auth/index.ts'
import type { AccountEvent } from '../../src/core/account-event.ts'
import { GatewayError, internal } from '../../src/core/errors.ts'
import { toClientError, UpstreamFault } from '../../src/core/failure.ts'
import type { GroupId, KeyId, NanoUsd, RequestId } from '../../src/core/ids.ts'
import { type CancelSignal, headerEntries } from '../../src/core/ports.ts'
import { errorReply } from '../../src/http/responses.ts'
import { createRouter } from '../../src/http/router.ts'
import { StoreFault } from '../../src/store/index.ts'
import { adminContext } from '../support/admin-context.ts'
import { noAudit } from '../support/audit.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { openBodyLimiter } from '../support/open-body-limiter.ts'

export const masterKey = '00112233445566778899aabbccddeeff'.repeat(2)
export const bodyLimit = 200_000

const master = await openMasterKey(masterKey)

export interface KeyJson {
  readonly id: string
  readonly name: string
  readonly group_id: string | null
  readonly budget_max: number | null
  readonly budget_spent: number
  readonly rpm_limit: number | null
  readonly tpm_limit: number | null
  readonly expires_at: number | null
  readonly disabled: boolean
  readonly created_at: number
  readonly deleted_at: number | null
  readonly key?: string
}

export interface GroupJson {
  readonly id: string
  readonly name: string
  readonly budget_max: number | null
  readonly budget_spent: number
  readonly created_at: number
  readonly deleted_at: number | null
}

/** All members that a response of these routes can have. */
export interface AnswerJson extends KeyJson {
  readonly keys: readonly KeyJson[]
  readonly groups: readonly GroupJson[]
  readonly error: { readonly code: string; readonly message: string; readonly param: string | null }
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: AnswerJson
}

export interface Call {
  /** Text, bytes and streams are sent unchanged, everything else as JSON. */
  readonly body?: unknown
  /** Replace the header with the master key. */
  readonly headers?: Record<string, string>
  readonly signal?: CancelSignal
}

/** The guarded admin routes of keys and groups, and their dependencies. */
export class AdminHarness {
  readonly store = new MemoryStore()
  readonly clock = new ManualClock()
  readonly ring = new KeyRing<KeyEntry>()
  readonly events: AccountEvent[] = []
  readonly accounts = new KeyRegistry({
    ledger: createMemoryLedger(this.clock),
    observer: { charged() {}, refused() {}, admitted() {}, changed() {}, turned() {}, loaded() {} },
    reserveOutputTokens: () => 256,
  })
  flushes = 0
  flush: () => Promise<void> = async () => {}
  readonly #find = createRouter(this.#routes())

  get now(): number {
    return Math.floor(this.clock.now() / 1000)
  }

  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const headers = call.headers ?? { authorization: `Bearer ${masterKey}` }
    const request = new Request(`http://gateway.test${path}`, {
      method,
      headers,
      ...(call.body !== undefined && { body: encodeBody(call.body), duplex: 'half' }),
    } as RequestInit)
    const found = await this.#find(path)
    const answer = async () => found.serve(request, adminContext(call.signal))
    const reply = await answer().catch((error: unknown) =>
      errorReply(asGatewayError(error), 'request' as RequestId),
    )
    const text = await new Response(reply.body as BodyInit | null).text()
    const json = text === '' ? undefined : JSON.parse(text)
    return {
      status: reply.status,
      headers: Object.fromEntries(headerEntries(reply)),
      text,
      json: json as AnswerJson,
    }
  }

  /** Makes a call that must succeed. */
  async done(method: string, path: string, body?: unknown): Promise<AnswerJson> {
    const answer = await this.call(method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.json
  }

  newKey(body: object = {}): Promise<AnswerJson> {
    return this.done('POST', '/admin/keys', { name: 'k', ...body })
  }

  newGroup(body: object = {}): Promise<AnswerJson> {
    return this.done('POST', '/admin/groups', { name: 'g', ...body })
  }

  /** Whether a secret is valid on the data plane now. */
  accepts(secret: string | undefined): boolean {
    try {
      this.ring.authenticate(
        { headers: new Headers({ authorization: `Bearer ${secret}` }) },
        this.now,
      )
      return true
    } catch {
      return false
    }
  }

  /** Charges the key without saving the spend. */
  charge(id: string, nanos: bigint): void {
    chargeEntry(this.accounts.getKey(id as KeyId), nanos)
  }

  chargeGroup(id: string, nanos: bigint): void {
    chargeEntry(this.accounts.getGroup(id as GroupId), nanos)
  }

  /** Returns the cap of a key in memory and in the database. */
  caps(id: string): readonly (NanoUsd | null | undefined)[] {
    const inMemory = this.accounts.getKey(id as KeyId) ?? this.accounts.getGroup(id as GroupId)
    const inStore = this.store.keys.get(id) ?? this.store.groups.get(id)
    return [inMemory?.record.budgetMax, inStore?.budgetMax]
  }

  #routes() {
    const { store, accounts, ring, clock } = this
    const desk = {
      store,
      accounts,
      ring,
      clock,
      bodyLimit: () => bodyLimit,
      bodyLimiter: openBodyLimiter(),
      notify: (event: AccountEvent) => void this.events.push(event),
      audit: noAudit,
      flush: () => {
        this.flushes++
        return this.flush()
      },
    }
    return requireMasterKey({ ...keyRoutes(desk), ...groupRoutes(desk) }, { master, refused() {} })
  }
}

function chargeEntry(entry: KeyEntry | GroupEntry | undefined, nanos: bigint): void {
  entry?.charge(nanos, entry.term)
}

/** Returns the members that identify a refusal. */
export function refusal({ status, json }: Answer): readonly [number, string, string | null] {
  return [status, json.error.code, json.error.param]
}

function encodeBody(body: unknown): unknown {
  const isRaw =
    typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
  return isRaw ? body : JSON.stringify(body)
}

function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof UpstreamFault) return toClientError(error.failure, '')
  if (error instanceof StoreFault) return storeUnavailable(error)
  return internal()
}
