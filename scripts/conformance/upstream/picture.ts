import type { Conversation, Part } from './conversation.ts'
import { say } from './parts.ts'
import { countSteps, findPath, type Step, useTools } from './steps.ts'

/** The picture that the agent finds in its directory. */
export const pictureFile = 'picture.png'

/** A PNG image of one pixel. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The task for an agent that works in `directory`. */
export function picturePrompt(directory: string): string {
  return `Look at ${directory}/${pictureFile}, and say what it shows.`
}

/** The last sentence when the image has reached the model. */
export const pictureSentence = 'It shows one pixel.'

const look: Step = {
  Read: (path) => ({ file_path: path }),
  read: (path) => ({ filePath: path }),
  view_image: (path) => ({ path }),
  read_file: (path) => ({ file_path: path }),
  exec: (path) => ({ input: `image(await tools.view_image(${JSON.stringify({ path })}))` }),
}

/** Looks at the picture once. */
export function planPicture(conversation: Conversation): Part[] {
  const path = findPath(conversation, pictureFile)
  if (path === undefined || conversation.tools.length === 0) return [say('A picture')]
  if (countSteps(conversation) === 0) return useTools(conversation, [look], path)
  const last = conversation.turns.at(-1)
  const sees = last?.role === 'user' && last.images > 0
  return [say(sees ? pictureSentence : 'No image has arrived.')]
}
