import type { ChatDoor } from '../../data-plane/index.ts'
import { readChat } from './request.ts'

/** The chat completions API of OpenAI. https://platform.openai.com/docs/api-reference/chat */
export const chatDoor: ChatDoor = Object.freeze({
  api: 'chat',
  // The second one is of the clients of Azure. https://learn.microsoft.com/azure/ai-foundry/openai/reference
  paths: ['/v1/chat/completions', '/openai/deployments/:model+/chat/completions'],
  read: readChat,
} satisfies ChatDoor)
