import { readFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import {
  type AccessToken,
  CloudCredentialError,
  type CloudCredentialRequest,
} from '../../../src/index.ts'
import { fetchFileToken } from './google-file.ts'
import { fetchMetadataToken } from './google-metadata.ts'
import { describeTokenFailure } from './token-failure.ts'

/**
 * Fetches an access token by Google's application default credentials: from the file that
 * `GOOGLE_APPLICATION_CREDENTIALS` names, else from the file of the gcloud command, else from the metadata
 * server. A file that exists and fails is the result.
 * https://cloud.google.com/docs/authentication/application-default-credentials
 */
export async function fetchGoogleCredential(request: CloudCredentialRequest): Promise<AccessToken> {
  const named = process.env['GOOGLE_APPLICATION_CREDENTIALS']
  const file = named ? await readNamed(named) : await readOfCommand()
  const fetching =
    file === undefined ? fetchMetadataToken(request.signal) : fetchFileToken(file, request)
  try {
    return await fetching
  } catch (error) {
    const origin = file === undefined ? 'Google metadata server' : 'Google credentials file'
    throw new CloudCredentialError(`${origin}: ${describeTokenFailure(error, 'Google')}`)
  }
}

async function readNamed(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw new CloudCredentialError('the file in GOOGLE_APPLICATION_CREDENTIALS cannot be read')
  }
}

/** The file that `gcloud auth application-default login` writes. */
async function readOfCommand(): Promise<string | undefined> {
  const { CLOUDSDK_CONFIG: folder, APPDATA: roaming = homedir() } = process.env
  const usual = platform() === 'win32' ? roaming : join(homedir(), '.config')
  const path = join(folder || join(usual, 'gcloud'), 'application_default_credentials.json')
  return readFile(path, 'utf8').catch(() => undefined)
}
