import { token } from './session.ts'

/** A request that the console or the gateway refused. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Sends a request to the console's own server. Rejects with an `ApiError`, or when there is no answer. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-console-token': token.value ?? '' }
  const response = await fetch(path, { ...init, headers })
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => undefined)
  throw new ApiError(response.status, readMessage(body) ?? `status ${response.status}`)
}

/** Reads JSON from the gateway's API. The caller names the shape, which the API's documentation gives. */
export async function read<Shape>(path: string, init: RequestInit = {}): Promise<Shape> {
  return (await (await send(`/api${path}`, init)).json()) as Shape
}

/** Sends a change to the admin API; resolves to its answer, undefined when it has none. */
export async function change<Shape>(method: string, path: string, body?: object): Promise<Shape> {
  const init = { method, ...(body && { body: JSON.stringify(body) }) }
  const response = await send(`/api${path}`, init)
  return (response.status === 204 ? undefined : await response.json()) as Shape
}

function readMessage(body: unknown): string | undefined {
  const message: unknown = Reflect.get(Object(Reflect.get(Object(body), 'error')), 'message')
  return typeof message === 'string' ? message : undefined
}
