import { onTestFinished } from 'vitest'
import { createGateway, type Gateway, type GatewayOptions } from '../../../src/index.ts'
import { upstream } from './upstream.ts'

/** A gateway in this process with the upstream port of the Node host. */
export async function gatewayOver(
  config: string,
  options: Partial<GatewayOptions> = {},
): Promise<Gateway> {
  const gateway = await createGateway({ upstream: upstream(options.env).send, config, ...options })
  onTestFinished(async () => {
    await gateway.close()
  })
  return gateway
}

/** Sends a chat completion request. */
export function chat(gateway: Gateway, fields: object = {}, init: RequestInit = {}) {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
  return gateway.fetch(
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
    }),
  )
}
