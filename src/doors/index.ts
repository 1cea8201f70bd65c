import {
  type ChatDoor,
  type CountDoor,
  type EmbedDoor,
  type ModelListing,
  openAiEmbeddings,
  typesafeListing,
} from '../data-plane/index.ts'
import { chatDoor } from './chat/door.ts'
import { completionsDoor } from './completions/door.ts'
import { geminiCountDoor } from './gemini/count-tokens.ts'
import { geminiDoor } from './gemini/door.ts'
import { geminiEmbedDoor } from './gemini/embed.ts'
import { geminiModels } from './gemini/models.ts'
import { countTokensDoor } from './messages/count-tokens.ts'
import { messagesDoor } from './messages/door.ts'
import { messagesModels } from './messages/models.ts'
import { responsesDoor } from './responses/door.ts'

/** Every API for chat. The only such list: each has its route, its records and its errors by its row. */
export const doors: readonly ChatDoor[] = [
  chatDoor,
  messagesDoor,
  responsesDoor,
  completionsDoor,
  geminiDoor,
]

/** Every API that counts the tokens of a prompt. */
export const countDoors: readonly CountDoor[] = [countTokensDoor, geminiCountDoor]

/** Every API for embeddings. */
export const embedDoors: readonly EmbedDoor[] = [openAiEmbeddings, geminiEmbedDoor]

/** The forms of the list of models, besides that of the OpenAI API. */
export const listings: readonly ModelListing[] = [geminiModels, messagesModels, typesafeListing]
