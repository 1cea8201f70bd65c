import type { ChatDoor } from '../data-plane/index.ts'
import { chatDoor } from './chat/door.ts'
import { completionsDoor } from './completions/door.ts'
import { messagesDoor } from './messages/door.ts'
import { responsesDoor } from './responses/door.ts'

/** Every API for chat. The only such list: each has its route, its records and its errors by its row. */
export const doors: readonly ChatDoor[] = [chatDoor, messagesDoor, responsesDoor, completionsDoor]
