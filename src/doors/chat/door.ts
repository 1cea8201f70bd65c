import type { ChatDoor } from '../../data-plane/index.ts'
import { readChat } from './request.ts'

/** The chat completions API of OpenAI. https://platform.openai.com/docs/api-reference/chat */
export const chatDoor: ChatDoor = Object.freeze({
  api: 'chat',
  path: '/v1/chat/completions',
  // Of the clients of Azure. https://learn.microsoft.com/azure/ai-foundry/openai/reference
  pathWithModel: '/openai/deployments/:model+/chat/completions',
  read: readChat,
} satisfies ChatDoor)
