/** A request to the gateway, as the console forwards it. */
export interface GatewayCall {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly body?: string | undefined
  /** Ends the call when the browser disconnects. */
  readonly signal?: AbortSignal | undefined
}

/** Sends calls to the running gateway. The master key and the chat key stay in this process. */
export interface GatewayClient {
  admin(call: GatewayCall): Promise<Response>
  /** Sends a data-plane request with a key of its own, which is created at the first call. */
  ask(call: GatewayCall): Promise<Response>
  /** Deletes the key of `ask`. Never rejects. */
  close(): Promise<void>
}

/** The key of the chat is deleted when the console ends; if the console is killed, it expires. */
const chatKeySeconds = 12 * 60 * 60

/** `address`: where the gateway listens, for example `http://127.0.0.1:8080`. */
export function createGatewayClient(address: string, masterKey: string): GatewayClient {
  const send = ({ method, path, body, signal }: GatewayCall, key: string) =>
    fetch(new URL(path, address), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
  const admin = (call: GatewayCall) => send(call, masterKey)
  let chatKey: Promise<ChatKey> | undefined
  const forget = (used: Promise<ChatKey>) => {
    if (chatKey === used) chatKey = undefined
  }
  const ask = async (call: GatewayCall) => {
    chatKey ??= createChatKey(admin)
    const used = chatKey
    // A failed creation is tried again at the next call.
    const { key } = await used.catch((error: unknown) => {
      forget(used)
      throw error
    })
    return { answer: await send(call, key), used }
  }
  return {
    admin,
    async ask(call) {
      const { answer, used } = await ask(call)
      if (answer.status !== 401) return answer
      // The key has expired or was deleted, or the gateway has another database by now.
      forget(used)
      await answer.body?.cancel()
      return (await ask(call)).answer
    },
    async close() {
      const created = await chatKey?.catch(() => undefined)
      if (!created) return
      const path = `/admin/keys/${created.id}`
      await admin({ method: 'DELETE', path }).catch(() => undefined)
    },
  }
}

interface ChatKey {
  readonly id: string
  readonly key: string
}

async function createChatKey(admin: GatewayClient['admin']): Promise<ChatKey> {
  const expires = Math.floor(Date.now() / 1000) + chatKeySeconds
  const body = JSON.stringify({ name: 'console', expires_at: expires })
  const answer = await admin({ method: 'POST', path: '/admin/keys', body })
  if (!answer.ok) throw new Error(`the gateway created no key: status ${answer.status}`)
  // The answer of the admin API to a creation.
  return (await answer.json()) as ChatKey
}
