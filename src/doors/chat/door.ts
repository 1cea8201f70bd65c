import type { ChatDoor } from '../../data-plane/index.ts'
import { readChat } from './request.ts'

/** `POST /v1/chat/completions`. */
export const chatDoor: ChatDoor = Object.freeze({ read: readChat })
