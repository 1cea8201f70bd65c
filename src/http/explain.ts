import { GatewayError, invalid } from '../core/errors.ts'
import type { Explain } from '../core/explain.ts'
import {
  type DataPlane,
  type ExplainedArrival,
  type Explanation,
  renderExplanation,
} from '../data-plane/index.ts'
import { createRouter } from './router.ts'
import { services } from './services.ts'

/** Creates the function that explains requests, with the paths at which the data plane serves them. */
export function createExplain(plane: DataPlane): Explain {
  const find = createRouter<ExplainedArrival, Explanation>(
    Object.fromEntries(
      services.flatMap(({ service, paths }) => {
        const route = { POST: plane.explained(service) }
        return paths.map((path) => [path, route])
      }),
    ),
  )
  return async ({ path, body, session, metadata, authenticator, origin }) => {
    const match = await find(path)
    // The cast holds because nothing shares its memory with another thread.
    const init = {
      method: 'POST',
      body: body as Uint8Array<ArrayBuffer>,
      headers: {
        ...(session !== undefined && { 'x-gateway-session': session }),
        ...(metadata !== undefined && { 'x-gateway-metadata': toHeader(metadata) }),
      },
    }
    const request = new Request(`http://gateway${path}`, init)
    const serve = async () => match.serve(request, { ...origin, authenticator })
    const explanation = await (match.route === 'other' ? serve().catch(refusePath) : serve())
    return renderExplanation(explanation, origin.id)
  }
}

/** Header values have one character for each byte of UTF-8. */
function toHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}

/** The path is a field of the question, so a wrong one is its mistake. */
function refusePath(error: unknown): never {
  throw error instanceof GatewayError ? invalid(`path: ${error.message}`, 'path') : error
}
