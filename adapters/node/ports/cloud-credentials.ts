import type { CloudCredentialPort } from '../../../src/index.ts'

/**
 * Finds credentials where the tools of the clouds find them: in the environment variables of the process, in
 * files, and at the metadata service of the machine. The packages of a cloud are loaded at its first use.
 */
export const nodeCloudCredentials: CloudCredentialPort = async (request) => {
  switch (request.cloud) {
    case 'aws': {
      const { fetchAwsCredential } = await import('../cloud/aws.ts')
      return fetchAwsCredential(request)
    }
    case 'google': {
      const { fetchGoogleCredential } = await import('../cloud/google.ts')
      return fetchGoogleCredential(request)
    }
    case 'azure': {
      const { fetchAzureCredential } = await import('../cloud/azure.ts')
      return fetchAzureCredential(request)
    }
    default:
      return request.cloud satisfies never
  }
}
