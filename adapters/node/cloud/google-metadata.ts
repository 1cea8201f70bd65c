import { Agent, type IncomingMessage, request } from 'node:http'
import * as z from 'zod'
import type { AccessToken, CancelSignal } from '../../../src/index.ts'
import { StatusError } from './google-failure.ts'

const answerTimeout = 3_000
const maxAnswerCharacters = 64 * 1024
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/**
 * Fetches a token of the service account of this machine, or of this pod of GKE. The project is that of the
 * machine.
 * https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
 */
export async function fetchMetadataToken(signal: CancelSignal): Promise<AccessToken> {
  const account = 'instance/service-accounts/default/token'
  const issued = tokenAnswer.parse(
    JSON.parse(await get(`${account}?scopes=${encodeURIComponent(scope)}`, signal)),
  )
  const expiresAt = Date.now() + issued.expires_in * 1000
  const project = await get('project/project-id', signal).catch(() => undefined)
  return {
    kind: 'token',
    value: issued.access_token,
    origin: 'Google metadata server',
    expiresAt,
    project: project?.trim() || undefined,
  }
}

const tokenAnswer = z.object({
  // The token becomes the value of a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.number().positive(),
})

/** Gets a value. The agent is its own, because the shared one may be set to use a proxy. */
function get(path: string, signal: CancelSignal): Promise<string> {
  const host = process.env['GCE_METADATA_HOST'] || 'metadata.google.internal'
  const agent = new Agent({ keepAlive: false })
  const headers = { 'metadata-flavor': 'Google' }
  return new Promise((resolve, reject) => {
    const call = request(
      `http://${host}/computeMetadata/v1/${path}`,
      { agent, headers, timeout: answerTimeout },
      (answer) => readAnswer(answer).then(resolve, reject),
    )
    const abort = () => call.destroy(new StatusError('aborted'))
    signal.addEventListener('abort', abort)
    call.once('timeout', () => call.destroy(new StatusError('timeout')))
    call.once('error', reject)
    call.once('close', () => signal.removeEventListener('abort', abort))
    call.end()
  })
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  // A captive portal or another service may answer under this name.
  if (answer.headers['metadata-flavor'] !== 'Google' || answer.statusCode !== 200) {
    answer.destroy()
    throw new StatusError('status', answer.statusCode)
  }
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    text += chunk
    if (text.length > maxAnswerCharacters) throw new StatusError('size')
  }
  return text
}
