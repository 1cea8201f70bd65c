import type { ChatContractCase } from '../contract-case.ts'
import { google } from './google.ts'

/** The dialect of the Gemini API, with a newer model whose calls have ids. */
export const vertexAi: ChatContractCase = {
  ...google,
  kind: 'vertex_ai',
  upstreamId: 'gemini-3.8-flash',
  settings:
    'base_url = "https://us-central1-aiplatform.googleapis.com/v1/projects/my-proj/locations/us-central1"',
}
