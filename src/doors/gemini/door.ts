import type { ChatDoor } from '../../data-plane/index.ts'
import { absentPaths, methodPath } from './address.ts'
import { geminiForm } from './error.ts'
import { readGemini } from './request.ts'

/** The `generateContent` API of Google, at the paths of the Gemini API and of Vertex AI. */
export const geminiDoor: ChatDoor = Object.freeze({
  api: 'gemini',
  paths: [methodPath('generateContent'), methodPath('streamGenerateContent')],
  absent: absentPaths,
  form: geminiForm,
  read: readGemini,
} satisfies ChatDoor)
