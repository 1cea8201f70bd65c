import type { ChatDoor } from '../../data-plane/index.ts'
import { readCompletion } from './request.ts'

/**
 * The text completions API of OpenAI, for links whose upstream speaks it.
 * https://platform.openai.com/docs/api-reference/completions
 */
export const completionsDoor: ChatDoor = Object.freeze({
  api: 'completions',
  // The second one is of the clients of Azure. https://learn.microsoft.com/azure/ai-foundry/openai/reference
  paths: ['/v1/completions', '/openai/deployments/:model+/completions'],
  read: readCompletion,
} satisfies ChatDoor)
