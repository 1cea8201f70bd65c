import { chat } from './chat.ts'
import type { Door } from './door.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

/** The APIs through which conversations run. */
export const doors: readonly Door[] = [chat, messages, responses]
