export { chatDoor } from './chat/door.ts'
