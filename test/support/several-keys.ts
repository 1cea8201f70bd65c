import { completion } from './answers.ts'
import type { TestGateway } from './gateway.ts'
import { json, type Responder, type ScriptedUpstream } from './scripted-upstream.ts'

/** A request to model `m`. */
export const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
export const answer = json(completion())
/** The variables of the keys. */
export const env = {
  A: 'canary-key-of-a-0001',
  B: 'canary-key-of-b-0002',
  C: 'canary-key-of-c-0003',
  D: 'canary-key-of-d-0004',
}
export type Variable = keyof typeof env

/** A provider `p` with the keys of `A` and `B`, whose circuit opens at the first fault. */
export const provider = (more = '', models = '{ id = "m" }, { id = "other" }') => `
  [resilience]
  retry_max_attempts = 1
  circuit_failure_threshold = 1
  [[providers]]
  name = "p"
  kind = "openai"
  base_url = "https://p.test"
  api_key_envs = ["A", "B"]
  ${more}
  models = [${models}]
`
/** The same, with provider `f` as a fallback of model `m`. */
export const withFallback = `
  ${provider('', '{ id = "m", fallbacks = ["f"] }')}
  [[providers]]
  name = "f"
  kind = "openai"
  base_url = "https://f.test"
  models = [{ id = "f" }]
`

/** The variable whose key a call carried. */
function readVariable({ requests }: ScriptedUpstream, at: number): string | undefined {
  const sent = String(requests[at]?.headers['authorization'])
  return Object.entries(env).find(([, key]) => sent === `Bearer ${key}`)?.[0]
}

/** The variables whose keys the calls carried, in order. */
export function listVariables(upstream: ScriptedUpstream): readonly (string | undefined)[] {
  return upstream.requests.map((_, at) => readVariable(upstream, at))
}

/** Answers a call by its key. Keys without a responder work. */
export function byVariable(
  upstream: ScriptedUpstream,
  responders: Partial<Record<Variable, Responder>>,
): void {
  upstream.always((call) => {
    const sent = call.headers['authorization']
    const [name] = Object.entries(env).find(([, key]) => sent === `Bearer ${key}`) ?? []
    // The name is one of the keys of `env`.
    return (responders[name as Variable] ?? answer)(call)
  })
}

/** Refuses with this status. */
export const refuse = (status: number, headers: Record<string, string> = {}): Responder =>
  json({ error: { message: `upstream says ${status}` } }, { status, headers })

/** Sends the request some times, one after the other, and returns the statuses. */
export async function sendTimes({ chat }: TestGateway, times: number): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let at = 0; at < times; at++) statuses.push((await chat(request)).status)
  return statuses
}
